// A short name for a folder, because the address of a Unix socket holds about a hundred characters.
#pragma once

#include <string>

namespace coffer {

/// Good for as long as the object is there, in this process.
class ShortName {
 public:
  /// Empty, with `errno` set, when there is no such folder.
  explicit ShortName(const std::string& folder);
  ~ShortName();
  ShortName(const ShortName&) = delete;
  ShortName& operator=(const ShortName&) = delete;

  const std::string& path() const { return path_; }

 private:
  std::string path_;
  [[maybe_unused]] int fd_ = -1;  // where it is the open folder that is named
};

}  // namespace coffer
