#include "base/files/ownership.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/files/folders.h"

namespace coffer {
namespace {

constexpr mode_t kOthersWrite = 022;
constexpr uid_t kRoot = 0;

bool is_trusted(uid_t owner, const std::string& path) {
  const uid_t self = ::geteuid();
  if (owner == self || owner == kRoot) return true;
  struct stat folder {};
  return self == kRoot && ::stat(directory_of(path).c_str(), &folder) == 0 &&
         owner == folder.st_uid && (folder.st_mode & kOthersWrite) == 0;
}

}  // namespace

std::string why_distrusted(int fd, const std::string& path) {
  struct stat file {};
  if (::fstat(fd, &file) != 0) return std::strerror(errno);
  if (!S_ISREG(file.st_mode)) return "it is not a regular file";
  if (!is_trusted(file.st_uid, path)) return "its owner is another user";
  if ((file.st_mode & kOthersWrite) != 0) return "other users may write to it";
  return {};
}

}  // namespace coffer
