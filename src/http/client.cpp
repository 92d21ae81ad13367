#include "http/client.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>

#include "base/clock.h"
#include "http/response_parser.h"

namespace coffer::http {
namespace {

class Socket {
 public:
  explicit Socket(int fd) : fd_(fd) {}
  ~Socket() {
    if (fd_ >= 0) ::close(fd_);
  }
  Socket(Socket&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Socket& operator=(Socket&&) = delete;
  int fd() const { return fd_; }

 private:
  int fd_;
};

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

Result<std::string> render(const ClientRequest& request) {
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
  out += "\r\nConnection: close\r\n";
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

/// One request on its way. Every wait ends at the deadline.
class Attempt {
 public:
  Attempt(const ClientRequest& request, TlsTrust& trust)
      : request_(request),
        trust_(trust),
        deadline_ms_(clock_.monotonic_ms() + request.total_timeout_ms) {}

  Result<ClientResponse> run() {
    COFFER_TRY(const std::string bytes, render(request_));
    COFFER_TRY(const Socket socket, connect());
    fd_ = socket.fd();
    if (request_.tls) COFFER_TRY_VOID(handshake());
    COFFER_TRY_VOID(write(bytes));
    auto response = read();
    tls_.close_notify();
    return response;
  }

 private:
  /// False when the deadline came first.
  bool wait(int fd, short events, std::int64_t deadline_ms) const {
    for (;;) {
      const std::int64_t left = deadline_ms - clock_.monotonic_ms();
      if (left <= 0) return false;
      pollfd wanted{fd, events, 0};
      if (::poll(&wanted, 1, static_cast<int>(left)) > 0) return true;
    }
  }
  bool wait_for(IoState state, std::int64_t deadline_ms) const {
    return wait(fd_, state == IoState::want_write ? POLLOUT : POLLIN, deadline_ms);
  }

  std::int64_t connect_deadline() const {
    return std::min(deadline_ms_, started_ms_ + request_.connect_timeout_ms);
  }

  Result<Socket> connect();
  Result<void> handshake();
  Result<void> write(std::string_view bytes);
  Result<ClientResponse> read();
  IoResult read_some(char* out, std::size_t room);
  IoResult write_some(std::string_view bytes);

  const SystemClock clock_;
  const ClientRequest& request_;
  TlsTrust& trust_;
  const std::int64_t started_ms_ = clock_.monotonic_ms();
  const std::int64_t deadline_ms_;
  int fd_ = -1;
  TlsSession tls_;
};

Result<Socket> Attempt::connect() {
  sockaddr_storage storage{};
  auto* v4 = reinterpret_cast<sockaddr_in*>(&storage);
  auto* v6 = reinterpret_cast<sockaddr_in6*>(&storage);
  const auto port = htons(static_cast<std::uint16_t>(request_.port));
  socklen_t size = 0;
  if (inet_pton(AF_INET, request_.address.c_str(), &v4->sin_addr) == 1) {
    v4->sin_family = AF_INET;
    v4->sin_port = port;
    size = sizeof *v4;
  } else if (inet_pton(AF_INET6, request_.address.c_str(), &v6->sin6_addr) == 1) {
    v6->sin6_family = AF_INET6;
    v6->sin6_port = port;
    size = sizeof *v6;
  } else {
    return unexpected(Slug::malformed_request, "The address to connect to is not numeric.");
  }
  Socket socket(::socket(storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (socket.fd() < 0) return unavailable(std::strerror(errno));
  const int one = 1;
  ::setsockopt(socket.fd(), IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
  if (::connect(socket.fd(), reinterpret_cast<sockaddr*>(&storage), size) != 0) {
    if (errno != EINPROGRESS) return unavailable(std::strerror(errno));
    if (!wait(socket.fd(), POLLOUT, connect_deadline())) return timed_out("connecting");
    int error = 0;
    socklen_t error_size = sizeof error;
    ::getsockopt(socket.fd(), SOL_SOCKET, SO_ERROR, &error, &error_size);
    if (error != 0) return unavailable(std::strerror(error));
  }
  return socket;
}

Result<void> Attempt::handshake() {
  COFFER_TRY(tls_, trust_.connect(fd_, request_.host));
  for (;;) {
    const IoState state = tls_.handshake().state;
    if (state == IoState::done) return {};
    if (state == IoState::failed || state == IoState::closed) {
      const std::string reason = tls_.refused_certificate();
      return unavailable(reason.empty() ? "the TLS handshake failed"
                                        : "the certificate is not accepted, " + reason);
    }
    if (!wait_for(state, connect_deadline())) return timed_out("agreeing on TLS");
  }
}

IoResult Attempt::write_some(std::string_view bytes) {
  if (tls_) return tls_.write(bytes.data(), bytes.size());
  const ssize_t count = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
  if (count >= 0) return {IoState::done, static_cast<std::size_t>(count)};
  return {errno == EAGAIN || errno == EINTR ? IoState::want_write : IoState::failed};
}

IoResult Attempt::read_some(char* out, std::size_t room) {
  if (tls_) return tls_.read(out, room);
  const ssize_t count = ::recv(fd_, out, room, 0);
  if (count > 0) return {IoState::done, static_cast<std::size_t>(count)};
  if (count == 0) return {IoState::closed};
  return {errno == EAGAIN || errno == EINTR ? IoState::want_read : IoState::failed};
}

Result<void> Attempt::write(std::string_view bytes) {
  while (!bytes.empty()) {
    const IoResult result = write_some(bytes);
    if (result.state == IoState::done) {
      bytes.remove_prefix(result.bytes);
    } else if (result.state == IoState::want_read || result.state == IoState::want_write) {
      if (!wait_for(result.state, deadline_ms_)) return timed_out("sending the request");
    } else {
      break;  // it may have answered early and closed: the answer is what counts
    }
  }
  return {};
}

Result<ClientResponse> Attempt::read() {
  ResponseParser parser(request_.method == "HEAD", request_.response_bytes_max);
  auto state = ResponseParser::State::header;
  std::array<char, 16 * 1024> chunk;
  while (state == ResponseParser::State::header || state == ResponseParser::State::body) {
    // Asked before each read, so that a peer which always has one more byte gains nothing.
    if (clock_.monotonic_ms() >= deadline_ms_) return timed_out("reading the response");
    const IoResult result = read_some(chunk.data(), chunk.size());
    if (result.state == IoState::done) {
      state = parser.feed({chunk.data(), result.bytes});
    } else if (result.state == IoState::want_read || result.state == IoState::want_write) {
      if (!wait_for(result.state, deadline_ms_)) return timed_out("reading the response");
    } else {
      state = parser.end(result.state == IoState::closed);
    }
  }
  if (state == ResponseParser::State::broken) {
    return unexpected(Slug::provider_error, "What came back is not an HTTP response.");
  }
  return parser.take();
}

bool is_readable_file(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return false;
  ::close(fd);
  return true;
}

}  // namespace

Client::Client(std::string ca_bundle) : trust_(std::move(ca_bundle)) {
  // OpenSSL writes to sockets with write(), which has no flag against the signal.
  std::signal(SIGPIPE, SIG_IGN);
}

Result<ClientResponse> Client::send(const ClientRequest& request) {
  return Attempt(request, trust_).run();
}

Result<std::string> find_ca_bundle(const std::string& option, const std::string& ssl_cert_file) {
  for (const std::string& named : {option, ssl_cert_file}) {
    if (named.empty()) continue;
    if (is_readable_file(named)) return named;
    return unexpected(Slug::unexpected_error, "The CA bundle " + named + " cannot be read.");
  }
  constexpr std::array kUsualPlaces{
      "/etc/ssl/certs/ca-certificates.crt",                 // Debian, Arch, Alpine
      "/etc/pki/tls/certs/ca-bundle.crt",                   // Fedora, RHEL
      "/etc/ssl/cert.pem",                                  // Alpine, macOS, BSD
      "/etc/ssl/ca-bundle.pem",                             // SUSE
      "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",  // RHEL, the source of the second
  };
  for (const char* place : kUsualPlaces) {
    if (is_readable_file(place)) return std::string(place);
  }
  return unexpected(Slug::unexpected_error,
                    "No CA bundle was found: install ca-certificates or name a file of trusted "
                    "roots.");
}

}  // namespace coffer::http
