#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>

#include "base/platform/short_name.h"

namespace coffer {
namespace {

constexpr const char* kLink = "/d";

}  // namespace

// A link in a folder that only this user can access, so that no other user can change its target.
ShortName::ShortName(const std::string& folder) {
  struct stat there {};
  if (::stat(folder.c_str(), &there) != 0) return;
  std::error_code error;
  const auto target = std::filesystem::absolute(folder, error);
  std::string home = "/tmp/coffer-XXXXXX";
  if (error || ::mkdtemp(home.data()) == nullptr) return;
  path_ = home + kLink;
  if (::symlink(target.c_str(), path_.c_str()) == 0) return;
  const int reason = errno;
  ::rmdir(home.c_str());
  path_.clear();
  errno = reason;
}

ShortName::~ShortName() {
  if (path_.empty()) return;
  ::unlink(path_.c_str());
  ::rmdir(std::filesystem::path(path_).parent_path().c_str());
}

}  // namespace coffer
