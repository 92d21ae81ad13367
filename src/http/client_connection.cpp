#include "http/client_connection.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "base/platform/descriptors.h"
#include "http/response_parser.h"

namespace coffer::http {
namespace {

Unexpected unavailable(const std::string& reason) {
  return unexpected(Slug::provider_unavailable, "No connection: " + reason + ".");
}

Unexpected timed_out(const char* during) {
  return unexpected(Slug::provider_timeout, std::string("The time ran out while ") + during + ".");
}

bool is_clean(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte >= 0x20 && byte != 0x7f;
  });
}

/// Numeric address and port in the system's form; 0 when the address is none.
socklen_t system_address(const ClientRequest& request, sockaddr_storage& storage) {
  auto* v4 = reinterpret_cast<sockaddr_in*>(&storage);
  auto* v6 = reinterpret_cast<sockaddr_in6*>(&storage);
  const auto port = htons(static_cast<std::uint16_t>(request.port));
  if (inet_pton(AF_INET, request.address.c_str(), &v4->sin_addr) == 1) {
    v4->sin_family = AF_INET;
    v4->sin_port = port;
    return sizeof *v4;
  }
  if (inet_pton(AF_INET6, request.address.c_str(), &v6->sin6_addr) == 1) {
    v6->sin6_family = AF_INET6;
    v6->sin6_port = port;
    return sizeof *v6;
  }
  return 0;
}

}  // namespace

Result<std::string> render_request(const ClientRequest& request, AfterResponse after) {
  const auto refuse = [](const char* what) {
    return unexpected(Slug::malformed_request, std::string("The ") + what + " cannot be sent.");
  };
  const bool good_target = !request.target.empty() && request.target.front() == '/' &&
                           request.target.find(' ') == std::string::npos;
  if (!good_target || !is_clean(request.target)) return refuse("target");
  if (request.host.empty() || !is_clean(request.host)) return refuse("host name");
  std::string out = request.method + " " + request.target + " HTTP/1.1\r\nHost: ";
  const bool is_v6 = request.host.find(':') != std::string::npos;
  out += is_v6 ? "[" + request.host + "]" : request.host;
  if (request.port != (request.tls ? 443 : 80)) out += ":" + std::to_string(request.port);
  out += "\r\n";
  if (after == AfterResponse::close) out += "Connection: close\r\n";
  if (!request.body.empty() || request.method != "GET") {
    out += "Content-Length: " + std::to_string(request.body.size()) + "\r\n";
  }
  for (const auto& [name, value] : request.headers) {
    if (name.empty() || name.find_first_of(": ") != std::string::npos || !is_clean(name) ||
        !is_clean(value)) {
      return refuse("header");
    }
    out.append(name).append(": ").append(value).append("\r\n");
  }
  return out + "\r\n" + request.body;
}

ClientConnection::~ClientConnection() {
  if (fd_ < 0) return;
  tls_.close_notify();
  ::close(fd_);
}

Result<ClientConnection> ClientConnection::open(const ClientRequest& request, TlsTrust& trust,
                                                std::int64_t deadline_ms, int cut_fd) {
  const std::int64_t started_ms = SystemClock().monotonic_ms();
  const std::int64_t connected_by = std::min(deadline_ms, started_ms + request.connect_timeout_ms);
  sockaddr_storage storage{};
  if (system_address(request, storage) == 0) {
    return unexpected(Slug::malformed_request, "The address to connect to is not numeric.");
  }
  ClientConnection connection(open_socket(storage.ss_family, SOCK_STREAM), cut_fd);
  if (connection.fd_ < 0) return unavailable(std::strerror(errno));
  COFFER_TRY_VOID(connection.connect(request, connected_by));
  if (request.tls) {
    COFFER_TRY_VOID(connection.handshake(request.host, trust, connected_by));
  }
  return connection;
}

/// False when the deadline came first, or the cut.
bool ClientConnection::wait(IoState state, std::int64_t deadline_ms) const {
  const short events = state == IoState::want_write ? POLLOUT : POLLIN;
  for (;;) {
    const std::int64_t left = deadline_ms - clock_.monotonic_ms();
    if (left <= 0) return false;
    std::array<pollfd, 2> wanted{{{fd_, events, 0}, {cut_fd_, POLLIN, 0}}};
    if (::poll(wanted.data(), wanted.size(), static_cast<int>(left)) <= 0) continue;
    return wanted[1].revents == 0;
  }
}

Result<void> ClientConnection::connect(const ClientRequest& request, std::int64_t deadline_ms) {
  sockaddr_storage storage{};
  const socklen_t size = system_address(request, storage);
  const int one = 1;
  ::setsockopt(fd_, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
  if (::connect(fd_, reinterpret_cast<sockaddr*>(&storage), size) == 0) return {};
  if (errno != EINPROGRESS) return unavailable(std::strerror(errno));
  if (!wait(IoState::want_write, deadline_ms))
    return unavailable("the time ran out while connecting");
  int error = 0;
  socklen_t error_size = sizeof error;
  ::getsockopt(fd_, SOL_SOCKET, SO_ERROR, &error, &error_size);
  if (error != 0) return unavailable(std::strerror(error));
  return {};
}

Result<void> ClientConnection::handshake(const std::string& host, TlsTrust& trust,
                                         std::int64_t deadline_ms) {
  COFFER_TRY(tls_, trust.connect(fd_, host));
  for (;;) {
    const IoState state = tls_.handshake().state;
    if (state == IoState::done) return {};
    if (state == IoState::failed || state == IoState::closed) {
      const std::string reason = tls_.refused_certificate();
      return unavailable(reason.empty() ? "the TLS handshake failed"
                                        : "the certificate is not accepted, " + reason);
    }
    if (!wait(state, deadline_ms)) return unavailable("the time ran out during the TLS handshake");
  }
}

IoResult ClientConnection::write_some(std::string_view bytes) {
  if (tls_) return tls_.write(bytes.data(), bytes.size());
  const ssize_t count = ::send(fd_, bytes.data(), bytes.size(), kNoSignal);
  if (count >= 0) return {IoState::done, static_cast<std::size_t>(count)};
  return {errno == EAGAIN || errno == EINTR ? IoState::want_write : IoState::failed};
}

IoResult ClientConnection::read_some(char* out, std::size_t room) {
  if (tls_) return tls_.read(out, room);
  const ssize_t count = ::recv(fd_, out, room, 0);
  if (count > 0) return {IoState::done, static_cast<std::size_t>(count)};
  if (count == 0) return {IoState::closed};
  return {errno == EAGAIN || errno == EINTR ? IoState::want_read : IoState::failed};
}

Result<void> ClientConnection::write(std::string_view bytes, std::int64_t deadline_ms) {
  while (!bytes.empty()) {
    const IoResult result = write_some(bytes);
    if (result.state == IoState::done) {
      bytes.remove_prefix(result.bytes);
    } else if (result.state == IoState::want_read || result.state == IoState::want_write) {
      if (!wait(result.state, deadline_ms)) return timed_out("sending the request");
    } else {
      break;  // it may have answered early and closed: the answer is what counts
    }
  }
  return {};
}

ClientConnection::Exchange ClientConnection::exchange(const ClientRequest& request,
                                                      std::string_view bytes,
                                                      std::int64_t deadline_ms) {
  if (auto sent = write(bytes, deadline_ms); !sent) return {unexpected(std::move(sent).error())};
  ResponseParser parser(request.method == "HEAD", request.response_bytes_max);
  auto state = ResponseParser::State::header;
  bool any = false;
  std::array<char, 16 * 1024> chunk;
  while (state == ResponseParser::State::header || state == ResponseParser::State::body) {
    // Asked before each read, so that a peer which always has one more byte gains nothing.
    if (clock_.monotonic_ms() >= deadline_ms) return {timed_out("reading the response")};
    const IoResult result = read_some(chunk.data(), chunk.size());
    if (result.state == IoState::done) {
      any = true;
      state = parser.feed({chunk.data(), result.bytes});
    } else if (result.state == IoState::want_read || result.state == IoState::want_write) {
      if (!wait(result.state, deadline_ms)) return {timed_out("reading the response")};
    } else {
      state = parser.end(result.state == IoState::closed);
    }
  }
  if (state == ResponseParser::State::broken) {
    const char* detail = any ? "What came back is not an HTTP response."
                             : "The connection was closed without a response.";
    return {unexpected(Slug::provider_error, detail), false, !any};
  }
  const bool reusable = parser.leaves_connection_usable();
  return {parser.take(), reusable, false};
}

bool ClientConnection::is_quiet() const {
  pollfd readable{fd_, POLLIN, 0};
  return ::poll(&readable, 1, 0) == 0;
}

}  // namespace coffer::http
