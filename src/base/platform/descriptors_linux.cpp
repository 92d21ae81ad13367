#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "base/platform/descriptors.h"

namespace coffer {
namespace {

int flags_of(Waiting waiting) {
  return waiting == Waiting::never ? SOCK_CLOEXEC | SOCK_NONBLOCK : SOCK_CLOEXEC;
}

// One byte beyond the end of any file. The locks of SQLite are at 1 GiB.
struct flock lock_range() {
  struct flock range {};
  range.l_type = F_WRLCK;
  range.l_whence = SEEK_SET;
  range.l_start = off_t{1} << 62;
  range.l_len = 1;
  return range;
}

}  // namespace

int open_socket(int family, int type, Waiting waiting) {
  return ::socket(family, type | flags_of(waiting), 0);
}

int accept_socket(int listening, sockaddr* peer, socklen_t* size, Waiting waiting) {
  return ::accept4(listening, peer, size, flags_of(waiting));
}

bool open_pipe(int (&ends)[2]) { return ::pipe2(ends, O_CLOEXEC) == 0; }

bool lock_file(int fd) {
  struct flock range = lock_range();
  if (::fcntl(fd, F_OFD_SETLK, &range) == 0) return true;
  if (errno != EAGAIN && errno != EACCES) return true;
  errno = EWOULDBLOCK;
  return false;
}

bool is_file_locked(int fd) {
  struct flock range = lock_range();
  return ::fcntl(fd, F_OFD_GETLK, &range) == 0 && range.l_type != F_UNLCK;
}

std::optional<uid_t> peer_user(int fd) {
  ucred peer{};
  socklen_t size = sizeof peer;
  if (::getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) return std::nullopt;
  return peer.uid;
}

}  // namespace coffer
