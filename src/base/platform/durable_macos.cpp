#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include "base/platform/durable.h"

namespace coffer {

bool sync_file(int fd) {
  if (::fcntl(fd, F_FULLFSYNC) == 0) return true;
  // Some file systems support only fsync(2), which then has to suffice. Other errors are final: a
  // repeated call could succeed although bytes are lost.
  const bool unknown = errno == ENOTSUP || errno == EINVAL || errno == ENOTTY;
  return unknown && ::fsync(fd) == 0;
}

bool sync_content(int fd) { return sync_file(fd); }

bool rename_exclusively(const std::string& from, const std::string& to) {
  if (::renamex_np(from.c_str(), to.c_str(), RENAME_EXCL) == 0) return true;
  if (errno == EINVAL) errno = ENOTSUP;
  return false;
}

std::int64_t changed_ns(const struct stat& status) {
  return status.st_ctimespec.tv_sec * 1'000'000'000LL + status.st_ctimespec.tv_nsec;
}

}  // namespace coffer
