// One connection of the client: to an address that was judged before, with TLS verified or none.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "base/clock.h"
#include "http/client.h"
#include "http/tls.h"

namespace coffer::http {

enum class AfterResponse { close, keep_alive };

/// The request as it goes on the wire. `malformed-request` when it cannot be sent as it is.
Result<std::string> render_request(const ClientRequest& request, AfterResponse after);

/// Belongs to one thread at a time. Every wait ends at a deadline of the monotonic clock.
class ClientConnection {
 public:
  ClientConnection(ClientConnection&& other) noexcept
      : fd_(std::exchange(other.fd_, -1)), cut_fd_(other.cut_fd_), tls_(std::move(other.tls_)) {}
  ClientConnection& operator=(ClientConnection&&) = delete;
  ~ClientConnection();

  /// Connects to `request.address` and agrees on TLS; nothing of the request is sent.
  /// `provider-unavailable` when that fails or takes too long. `trust` outlives the connection, and
  /// so does `cut_fd`, when there is one: as soon as it is readable, every wait ends as at its
  /// deadline.
  static Result<ClientConnection> open(const ClientRequest& request, TlsTrust& trust,
                                       std::int64_t deadline_ms, int cut_fd = -1);

  struct Exchange {
    Result<ClientResponse> response;
    bool reusable = false;  // the next request may follow
    bool hung_up = false;   // the peer closed without a single byte of a response
  };
  /// Sends what `render_request` made of `request` and reads the response.
  Exchange exchange(const ClientRequest& request, std::string_view bytes, std::int64_t deadline_ms);
  /// Nothing came while it was idle, not even an end: worth another request.
  bool is_quiet() const;

 private:
  ClientConnection(int fd, int cut_fd) : fd_(fd), cut_fd_(cut_fd) {}
  bool wait(IoState state, std::int64_t deadline_ms) const;
  Result<void> connect(const ClientRequest& request, std::int64_t deadline_ms);
  Result<void> handshake(const std::string& host, TlsTrust& trust, std::int64_t deadline_ms);
  Result<void> write(std::string_view bytes, std::int64_t deadline_ms);
  IoResult read_some(char* out, std::size_t room);
  IoResult write_some(std::string_view bytes);

  const SystemClock clock_;
  int fd_;
  int cut_fd_;  // negative: none
  TlsSession tls_;
};

}  // namespace coffer::http
