#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include "base/platform/durable.h"

namespace coffer {

bool sync_file(int fd) { return ::fsync(fd) == 0; }

bool sync_content(int fd) { return ::fdatasync(fd) == 0; }

bool rename_exclusively(const std::string& from, const std::string& to) {
  if (::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE) == 0) return true;
  if (errno != EINVAL && errno != ENOSYS) return false;
  // Network file systems have no exclusive rename, but links.
  if (::link(from.c_str(), to.c_str()) == 0) return ::unlink(from.c_str()) == 0;
  if (errno != EEXIST) errno = ENOTSUP;
  return false;
}

std::int64_t changed_ns(const struct stat& status) {
  return status.st_ctim.tv_sec * 1'000'000'000LL + status.st_ctim.tv_nsec;
}

}  // namespace coffer
