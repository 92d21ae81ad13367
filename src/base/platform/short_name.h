// A short path for a folder, because the address of a Unix socket is limited to about a hundred
// characters.
#pragma once

#include <string>

namespace coffer {

/// Valid during the lifetime of the object, in this process.
class ShortName {
 public:
  /// Empty, with `errno` set, if the folder does not exist.
  explicit ShortName(const std::string& folder);
  ~ShortName();
  ShortName(const ShortName&) = delete;
  ShortName& operator=(const ShortName&) = delete;

  const std::string& path() const { return path_; }

 private:
  std::string path_;
  [[maybe_unused]] int fd_ = -1;  // on systems where the path refers to the open folder
};

}  // namespace coffer
