// Sockets and pipes that no program we start inherits: what Linux does in one call and macOS in a
// few.
#pragma once

#include <sys/socket.h>
#include <sys/types.h>

#include <optional>

namespace coffer {

/// Goes into the flags of send(2): who writes to a peer that is gone gets EPIPE, not a signal.
#if defined(__linux__)
constexpr int kNoSignal = MSG_NOSIGNAL;
#else
constexpr int kNoSignal = 0;  // sockets from here are set so
#endif

enum class Waiting { never, allowed };  // never: O_NONBLOCK

/// As socket(2), closed in programs we start. -1 with `errno` set.
int open_socket(int family, int type, Waiting waiting = Waiting::never);
/// As accept(2), closed in programs we start; `peer` may be null, and then `size` is too. -1 with
/// `errno` set.
int accept_socket(int listening, sockaddr* peer, socklen_t* size, Waiting waiting = Waiting::never);
/// As pipe(2), closed in programs we start. False with `errno` set.
bool open_pipe(int (&ends)[2]);
/// The user at the other end of a connected Unix socket, as the kernel says; nullopt with `errno`
/// set.
std::optional<uid_t> peer_user(int fd);

}  // namespace coffer
