// Whether a file is trusted to hold or supply secrets.
#pragma once

#include <string>

namespace coffer {

/// Why the open file is not trusted, as the end of a sentence: "it is not a regular file", "its
/// owner is another user", "other users may write to it". Empty if it is trusted. The owner must be
/// the user of this process or root; for root, the owner of the folder of `path` is accepted too,
/// because that user could replace the file anyway.
std::string why_distrusted(int fd, const std::string& path);

}  // namespace coffer
