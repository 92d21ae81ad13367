// Whether a file may be trusted with secrets, or may say what secrets are.
#pragma once

#include <string>

namespace coffer {

/// Why the open file is not to be trusted, as the end of a sentence: "it is not a regular file",
/// "its owner is another user", "other users may write to it". Empty if it is to be trusted. Owners
/// are the user of this process and root; for root, also the owner of the folder of `path`, who
/// could replace the file anyway.
std::string why_distrusted(int fd, const std::string& path);

}  // namespace coffer
