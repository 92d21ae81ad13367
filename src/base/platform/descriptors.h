// Sockets and pipes that child processes do not inherit, and locks of open files. Linux needs one
// call for each; macOS needs several or has none.
#pragma once

#include <sys/socket.h>
#include <sys/types.h>

#include <optional>

namespace coffer {

/// A flag for send(2): writing to a closed connection returns EPIPE instead of raising a signal.
#if defined(__linux__)
constexpr int kNoSignal = MSG_NOSIGNAL;
#else
constexpr int kNoSignal = 0;  // these sockets have SO_NOSIGPIPE
#endif

enum class Waiting { never, allowed };  // never: O_NONBLOCK

/// Like socket(2), closed in child processes. Returns -1 with `errno` set.
int open_socket(int family, int type, Waiting waiting = Waiting::never);
/// Like accept(2), closed in child processes. `peer` and `size` may both be null. Returns -1 with
/// `errno` set.
int accept_socket(int listening, sockaddr* peer, socklen_t* size, Waiting waiting = Waiting::never);
/// Like pipe(2), closed in child processes. Returns false with `errno` set.
bool open_pipe(int (&ends)[2]);
/// Locks an open file until the descriptor is closed. The lock belongs to the descriptor and is
/// independent of SQLite's locks. Returns false with `errno` EWOULDBLOCK if another descriptor, in
/// this or another process, has locked the file. Returns true without a lock if the system or the
/// file system supports none.
bool lock_file(int fd);
/// Whether another descriptor has locked the file with lock_file().
bool is_file_locked(int fd);
/// The user of the other end of a connected Unix socket, from the kernel; nullopt with `errno` set.
std::optional<uid_t> peer_user(int fd);

}  // namespace coffer
