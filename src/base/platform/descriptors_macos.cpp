#include <fcntl.h>
#include <unistd.h>

#include "base/platform/descriptors.h"

namespace coffer {
namespace {

// Another thread may start a program between the two calls. This is harmless, because programs
// inherit only their standard streams (outbound/operations/sendmail).
void set_up(int fd, Waiting waiting) {
  ::fcntl(fd, F_SETFD, FD_CLOEXEC);
  // Set explicitly in both cases, because an accepted socket inherits from the listening one.
  const int flags = ::fcntl(fd, F_GETFL);
  ::fcntl(fd, F_SETFL, waiting == Waiting::never ? flags | O_NONBLOCK : flags & ~O_NONBLOCK);
}

int set_up_socket(int fd, Waiting waiting) {
  if (fd < 0) return fd;
  set_up(fd, waiting);
  const int one = 1;
  ::setsockopt(fd, SOL_SOCKET, SO_NOSIGPIPE, &one, sizeof one);
  return fd;
}

}  // namespace

int open_socket(int family, int type, Waiting waiting) {
  return set_up_socket(::socket(family, type, 0), waiting);
}

int accept_socket(int listening, sockaddr* peer, socklen_t* size, Waiting waiting) {
  return set_up_socket(::accept(listening, peer, size), waiting);
}

bool open_pipe(int (&ends)[2]) {
  if (::pipe(ends) != 0) return false;
  for (const int fd : ends) set_up(fd, Waiting::allowed);
  return true;
}

// flock(2) would conflict with SQLite's locks on macOS.
bool lock_file(int) { return true; }

bool is_file_locked(int) { return false; }

std::optional<uid_t> peer_user(int fd) {
  uid_t user = 0;
  gid_t group = 0;
  if (::getpeereid(fd, &user, &group) != 0) return std::nullopt;
  return user;
}

}  // namespace coffer
