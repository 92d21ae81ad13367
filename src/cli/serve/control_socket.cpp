#include "cli/serve/control_socket.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <optional>

#include "base/mutex.h"
#include "base/platform/descriptors.h"
#include "base/telemetry/log.h"
#include "cli/output/standard_output.h"
#include "store/database.h"

namespace coffer::cli {
namespace {

// Several, so that long commands (verification, following events) do not delay others.
constexpr int kThreads = 8;
constexpr int kRequestMs = 5'000;
constexpr int kSendTimeoutMs = 10'000;
constexpr int kPauseMs = 100;

/// Sends each block as a frame.
class FrameBuffer final : public BlockBuffer {
 public:
  /// `sending` is shared by the buffers of one stream, because a separate thread draws progress.
  FrameBuffer(ControlStream& stream, Mutex& sending, FrameKind kind)
      : stream_(stream), sending_(sending), kind_(kind) {}

 private:
  bool pass_on(std::string_view block) override {
    const Lock lock(sending_);
    failed_ = failed_ || !stream_.send(kind_, block, kSendTimeoutMs);
    return !failed_;
  }

  ControlStream& stream_;
  Mutex& sending_;
  const FrameKind kind_;
  bool failed_ = false;
};

/// The user at the other end, if its commands are accepted.
std::optional<uid_t> trusted_peer(int fd) {
  const auto user = peer_user(fd);
  if (!user || *user == ::geteuid() || *user == 0) return user;
  log_warning("control", "command of another user rejected", {{"uid", *user}});
  return std::nullopt;
}

Problem cannot_listen(const std::string& path) {
  return Problem(Slug::unexpected_error, "cannot listen on " + path + ": " + std::strerror(errno));
}

}  // namespace

ControlSocket::~ControlSocket() { stop(); }

Result<void> ControlSocket::start(const std::string& database) {
  path_ = control_socket_path(database);
  struct stat there {};
  // Remove only sockets.
  if (::lstat(path_.c_str(), &there) == 0 && S_ISSOCK(there.st_mode)) ::unlink(path_.c_str());
  listen_fd_ = open_control_socket(path_, SocketRole::listen);
  if (listen_fd_ < 0) return unexpected(cannot_listen(path_));
  stop_.clear();
  for (int i = 0; i < kThreads; ++i) threads_.emplace_back("control", [this] { serve_clients(); });
  return {};
}

void ControlSocket::stop() {
  if (listen_fd_ < 0) return;
  ::unlink(path_.c_str());
  stop_.signal();
  interruption_.interrupt();
  threads_.clear();
  ::close(listen_fd_);
  listen_fd_ = -1;
}

void ControlSocket::serve_clients() {
  for (int fd = accept_client(); fd >= 0; fd = accept_client()) {
    ControlStream stream(fd);
    if (const auto uid = trusted_peer(fd)) converse(std::move(stream), *uid);
  }
}

int ControlSocket::accept_client() {
  for (;;) {
    std::array<pollfd, 2> wanted{{{stop_.fd(), POLLIN, 0}, {listen_fd_, POLLIN, 0}}};
    if (::poll(wanted.data(), wanted.size(), -1) < 0 && errno != EINTR) return -1;
    if (wanted[0].revents != 0) return -1;
    const int fd = accept_socket(listen_fd_, nullptr, nullptr);
    if (fd >= 0) return fd;
    const bool another_thread_was_faster = errno == EAGAIN || errno == EWOULDBLOCK;
    // Out of descriptors: the client stays in the queue, so poll would return immediately.
    if (!another_thread_was_faster) ::poll(wanted.data(), 1, kPauseMs);
  }
}

void ControlSocket::converse(ControlStream stream, unsigned uid) {
  const auto frame = stream.receive(kRequestMs);
  if (!frame || frame->kind != FrameKind::request) return;
  auto request = decode_request(frame->content);
  if (!request || !stream.send(FrameKind::accepted, {}, kSendTimeoutMs)) return;
  request->uid = uid;
  Mutex sending;
  FrameBuffer out_buffer(stream, sending, FrameKind::out);
  FrameBuffer err_buffer(stream, sending, FrameKind::err);
  std::ostream out(&out_buffer);
  std::ostream err(&err_buffer);
  const store::ReadersScope readers(store::Readers::control);
  const int code = run_(*request, out, err, interruption_);
  out_buffer.finish();
  err_buffer.finish();
  stream.send(FrameKind::exit, std::to_string(code), kSendTimeoutMs);
}

}  // namespace coffer::cli
