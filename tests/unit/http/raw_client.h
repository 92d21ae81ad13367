// A client that sends exactly the given bytes, for tests of the wire.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "base/clock.h"

namespace coffer::http::test {

class RawClient {
 public:
  explicit RawClient(int port, int receive_buffer = 0) : fd_(::socket(AF_INET, SOCK_STREAM, 0)) {
    if (receive_buffer != 0) {
      ::setsockopt(fd_, SOL_SOCKET, SO_RCVBUF, &receive_buffer, sizeof receive_buffer);
    }
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    connected_ = ::connect(fd_, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
  }
  ~RawClient() { close(); }
  RawClient(RawClient&& other) noexcept
      : fd_(std::exchange(other.fd_, -1)), connected_(other.connected_) {}
  RawClient& operator=(RawClient&&) = delete;

  bool connected() const { return connected_; }
  int fd() const { return fd_; }

  bool send(std::string_view bytes) const {
    while (!bytes.empty()) {
      const ssize_t count = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (count <= 0) return false;
      bytes.remove_prefix(static_cast<std::size_t>(count));
    }
    return true;
  }
  void finish_sending() const { ::shutdown(fd_, SHUT_WR); }
  void close() {
    if (fd_ >= 0) ::close(fd_);
    fd_ = -1;
  }

  /// Reads until the server closes, or until `timeout_ms` (then `timed_out()`).
  std::string read_all(int timeout_ms = 5'000) {
    const std::int64_t deadline = clock_.monotonic_ms() + timeout_ms;
    while (read_some(deadline)) {
    }
    return std::exchange(pending_, {});
  }

  /// One response with Content-Length; its header and body.
  std::string read_response(int timeout_ms = 5'000) {
    const std::int64_t deadline = clock_.monotonic_ms() + timeout_ms;
    for (;;) {
      const std::size_t end = pending_.find("\r\n\r\n");
      if (end != std::string::npos) {
        const std::size_t size = end + 4 + body_size(pending_.substr(0, end));
        if (pending_.size() >= size) {
          std::string response = pending_.substr(0, size);
          pending_.erase(0, size);
          return response;
        }
      }
      if (!read_some(deadline)) return std::exchange(pending_, {});
    }
  }

  bool timed_out() const { return timed_out_; }
  /// The server has closed its side, in order or by a reset.
  bool at_end(int timeout_ms = 5'000) { return read_all(timeout_ms).empty() && !timed_out_; }
  bool was_reset() const { return reset_; }

 private:
  static std::size_t body_size(const std::string& header) {
    const std::size_t at = header.find("Content-Length: ");
    return at == std::string::npos ? 0 : std::stoul(header.substr(at + 16));
  }

  bool read_some(std::int64_t deadline) {
    pollfd wanted{fd_, POLLIN, 0};
    const std::int64_t left = deadline - clock_.monotonic_ms();
    timed_out_ = left <= 0 || ::poll(&wanted, 1, static_cast<int>(left)) == 0;
    if (timed_out_) return false;
    char chunk[16384];
    const ssize_t count = ::recv(fd_, chunk, sizeof chunk, 0);
    reset_ = count < 0;
    if (count <= 0) return false;
    pending_.append(chunk, static_cast<std::size_t>(count));
    return true;
  }

  SystemClock clock_;
  int fd_;
  bool connected_ = false;
  bool timed_out_ = false;
  bool reset_ = false;
  std::string pending_;
};

}  // namespace coffer::http::test
