// Whether a file is trusted to hold or supply secrets.
#pragma once

#include <string>

struct stat;

namespace coffer {

/// The one rule for files with secrets: master key, TLS keys, passwords, tokens.
struct SecretFile {
  std::string fault;    // why the file must not be used, as the end of a sentence; empty if it may
  std::string warning;  // what an operator should know although it may be used, or empty
};

/// A fault: it is not a regular file; its owner is neither the user of this process nor root (for
/// root, the owner of the folder of `path` is accepted too, because that user could replace the
/// file anyway); other users can read or change it; or users of its group can. The group may read a
/// file of root, who gave it to that group. A group of this process may also read or change files
/// that a platform prepared for it, such as a volume with `fsGroup` in Kubernetes, with a warning:
/// they belong to root, or their folder passes its group on.
SecretFile judge_secret_file(const struct stat& file, const std::string& path);

}  // namespace coffer
