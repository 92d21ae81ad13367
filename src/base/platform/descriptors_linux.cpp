#include <fcntl.h>
#include <unistd.h>

#include "base/platform/descriptors.h"

namespace coffer {
namespace {

int flags_of(Waiting waiting) {
  return waiting == Waiting::never ? SOCK_CLOEXEC | SOCK_NONBLOCK : SOCK_CLOEXEC;
}

}  // namespace

int open_socket(int family, int type, Waiting waiting) {
  return ::socket(family, type | flags_of(waiting), 0);
}

int accept_socket(int listening, sockaddr* peer, socklen_t* size, Waiting waiting) {
  return ::accept4(listening, peer, size, flags_of(waiting));
}

bool open_pipe(int (&ends)[2]) { return ::pipe2(ends, O_CLOEXEC) == 0; }

std::optional<uid_t> peer_user(int fd) {
  ucred peer{};
  socklen_t size = sizeof peer;
  if (::getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) return std::nullopt;
  return peer.uid;
}

}  // namespace coffer
