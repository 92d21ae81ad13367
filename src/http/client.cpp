#include "http/client.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <httplib.h>
#include <openssl/ssl.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdint>

#include "base/environment.h"
#include "base/platform/lease.h"
#include "base/text/ascii.h"
#include "http/certificate.h"
#include "http/gate.h"
#include "http/message.h"

namespace coffer::http {

/// One client of the library: one host at one address, with at most one connection. For one thread
/// at a time.
class PinnedClient {
 public:
  /// Creates a client for the host, port and address of `request`, with verified TLS or plain HTTP.
  /// It connects at the first request. `unexpected-error` if the CA bundle cannot be read. `trust`
  /// must outlive the client.
  static Result<std::unique_ptr<PinnedClient>> make(const ClientRequest& request, TlsTrust& trust,
                                                    bool keeps);
  PinnedClient(const PinnedClient&) = delete;
  PinnedClient& operator=(const PinnedClient&) = delete;

  struct Sent {
    Result<ClientResponse> response;
    bool reusable = false;  // the connection can be used for another request
    // The request was sent, and the peer closed the connection without a response.
    bool hung_up = false;
  };
  /// Sends at most one request, like Client::send.
  Sent send(const ClientRequest& request, CallDeadlines::Call& call);

  /// Whether the idle connection has received neither data nor an end of stream, so that it can be
  /// reused.
  bool is_quiet() const;

 private:
  struct Attempt;
  PinnedClient(const ClientRequest& request, bool keeps);
  Result<void> secure(const std::string& host, TlsTrust& trust);
  Unexpected rejection(httplib::Error error) const;
  void stop_reading();
  void follow(Attempt& attempt, httplib::Request& out);

  const bool keeps_;
  // Declared before the client, which uses them until its destruction.
  ssl_st* session_ = nullptr;   // of the present TLS connection
  long certificate_fault_ = 0;  // X509_V_ERR_... of the last handshake
  std::unique_ptr<httplib::ClientImpl> client_;
};

namespace {

constexpr std::int64_t kMsPerS = 1'000;
constexpr std::int64_t kUsPerMs = 1'000;
constexpr int kSwitchingProtocols = 101;
constexpr int kFirstFinalStatus = 200;
constexpr int kNoContent = 204;
constexpr int kNotModified = 304;

bool is_numeric(const std::string& address) {
  in6_addr out{};
  return inet_pton(AF_INET, address.c_str(), &out) == 1 ||
         inet_pton(AF_INET6, address.c_str(), &out) == 1;
}

/// The part of the request that cannot be sent; empty if all of it can.
std::string_view unsendable(const ClientRequest& request) {
  const std::string& target = request.target;
  if (!is_numeric(request.address)) return "address to connect to is not numeric";
  if (ascii::has_control(request.host) || request.host.empty()) return "host name cannot be sent";
  if (ascii::has_control(target) || !target.starts_with('/') ||
      target.find(' ') != std::string::npos) {
    return "target cannot be sent";
  }
  const auto bad = [](const auto& header) {
    return !is_token(header.first) || !is_field_value(header.second);
  };
  const bool all_good = std::none_of(request.headers.begin(), request.headers.end(), bad);
  return all_good ? std::string_view() : "header cannot be sent";
}

/// Whether the library can find the end of the response: by Content-Length, by chunks, or by the
/// end of the connection. It cannot read other codings.
bool is_readable(const httplib::Response& response) {
  const std::string coding = response.get_header_value("Transfer-Encoding");
  return response.status >= kFirstFinalStatus && (coding.empty() || same_name(coding, "chunked"));
}

bool keeps_connection(const httplib::Response& response) {
  const std::string connection = response.get_header_value("Connection");
  return connection.empty() || same_name(connection, "keep-alive");
}

httplib::Request library_request(const ClientRequest& request) {
  httplib::Request out;
  out.method = request.method;
  out.path = request.target;
  out.headers.emplace("Host", host_field(request));
  for (const auto& [name, value] : request.headers) out.headers.emplace(name, value);
  out.body = request.body;
  // Without a body, the library adds the field itself where it must be.
  if (!request.body.empty()) {
    out.headers.emplace("Content-Length", std::to_string(request.body.size()));
  }
  return out;
}

Unexpected timed_out() { return unexpected(Slug::provider_timeout, "The request timed out."); }

/// Why there is no final response to a request that was sent.
Unexpected no_response(const httplib::Response& in, httplib::Error error) {
  std::string detail = "The connection was closed, or the response is not valid HTTP.";
  if (error == httplib::Error::ExceedMaxPayloadSize) {
    detail = "The header of the response has more than " +
             std::to_string(CPPHTTPLIB_HEADER_MAX_COUNT) + " fields or " +
             std::to_string(CPPHTTPLIB_HEADER_MAX_LENGTH / 1024) + " KiB.";
  } else if (in.status == kSwitchingProtocols) {
    detail = "The server switched to another protocol (status 101), which was not requested.";
  } else if (error == httplib::Error::Canceled) {
    detail = "The server sent more than " + std::to_string(CPPHTTPLIB_INTERIM_RESPONSES_MAX_COUNT) +
             " informational responses (1xx) instead of a final one.";
  }
  return unexpected(Slug::provider_error, std::move(detail));
}

void set_timeouts(httplib::ClientImpl& client, const ClientRequest& request) {
  const auto s = [](int ms) { return static_cast<time_t>(ms / kMsPerS); };
  const auto us = [](int ms) { return static_cast<time_t>(ms % kMsPerS * kUsPerMs); };
  const int total_ms = std::max(1, request.total_timeout_ms);
  const int connect_ms = std::clamp(request.connect_timeout_ms, 1, total_ms);
  client.set_connection_timeout(s(connect_ms), us(connect_ms));
  client.set_read_timeout(s(total_ms), us(total_ms));
  client.set_write_timeout(s(total_ms), us(total_ms));
}

}  // namespace

std::string host_field(const ClientRequest& request) {
  const bool is_v6 = request.host.find(':') != std::string::npos;
  const std::string host = is_v6 ? "[" + request.host + "]" : request.host;
  return request.port == (request.tls ? 443 : 80) ? host
                                                  : host + ":" + std::to_string(request.port);
}

PinnedClient::PinnedClient(const ClientRequest& request, bool keeps) : keeps_(keeps) {
  if (request.tls) {
    client_ = std::make_unique<httplib::SSLClient>(request.host, request.port);
  } else {
    client_ = std::make_unique<httplib::ClientImpl>(request.host, request.port);
  }
  client_->set_hostname_addr_map({{request.host, request.address}});
  client_->set_keep_alive(keeps);
  client_->set_tcp_nodelay(true);
  client_->set_path_encode(false);
  client_->set_decompress(false);
}

Result<std::unique_ptr<PinnedClient>> PinnedClient::make(const ClientRequest& request,
                                                         TlsTrust& trust, bool keeps) {
  std::unique_ptr<PinnedClient> made(new PinnedClient(request, keeps));
  if (request.tls) COFFER_TRY_VOID(made->secure(request.host, trust));
  return made;
}

/// The handshake verifies chain and name with the roots of one store. The library's own
/// verification would read the bundle again for each client, and would add the roots of OpenSSL's
/// folder.
Result<void> PinnedClient::secure(const std::string& host, TlsTrust& trust) {
  auto& client = static_cast<httplib::SSLClient&>(*client_);
  COFFER_TRY_VOID(
      trust.protect(static_cast<SSL_CTX*>(client.tls_context()), host, &certificate_fault_));
  client.enable_server_certificate_verification(false);
  client.set_session_verifier([this](httplib::tls::session_t session) {
    session_ = static_cast<SSL*>(session);
    const bool verified = (SSL_get_verify_mode(session_) & SSL_VERIFY_PEER) != 0 &&
                          SSL_get0_peer_certificate(session_) != nullptr &&
                          SSL_get_verify_result(session_) == X509_V_OK;
    return verified ? httplib::SSLVerifierResponse::CertificateAccepted
                    : httplib::SSLVerifierResponse::CertificateRejected;
  });
  return {};
}

/// Why the request was not sent.
Unexpected PinnedClient::rejection(httplib::Error error) const {
  std::string reason = httplib::to_string(error);
  if (error == httplib::Error::Connection) {
    return unexpected(Slug::provider_unavailable, std::string(kNotConnected));
  }
  if (error == httplib::Error::ConnectionTimeout) reason = "the connection attempt timed out";
  if (error == httplib::Error::SSLConnection) reason = "the TLS handshake failed";
  std::string detail = "No connection: " + reason + ".";
  if (certificate_fault_ != X509_V_OK) {
    detail = std::string(kCertificateRejected) + ", " +
             X509_verify_cert_error_string(certificate_fault_) + ".";
  }
  return unexpected(Slug::provider_unavailable, std::move(detail));
}

/// State of a call while the library executes it.
struct PinnedClient::Attempt {
  const ClientRequest& request;
  CallDeadlines::Call& call;
  bool sending = false;  // from now on, the peer may have received the request
  bool has_head = false;
  bool is_cut_off = false;  // coffer ended the reading
  ClientResponse response;
};

/// Closes without waiting for the peer. The library would wait until the peer closes too.
void PinnedClient::stop_reading() {
  if (session_ != nullptr) SSL_set_shutdown(session_, SSL_RECEIVED_SHUTDOWN);
}

/// The callbacks live as long as `attempt`, because the library calls them only within send().
void PinnedClient::follow(Attempt& attempt, httplib::Request& out) {
  out.response_handler = [this, &attempt](const httplib::Response& in) {
    attempt.has_head = true;
    attempt.is_cut_off = !is_readable(in);
    if (attempt.is_cut_off) stop_reading();
    return !attempt.is_cut_off;
  };
  out.content_receiver = [this, &attempt](const char* data, std::size_t size, std::size_t,
                                          std::size_t) {
    std::string& body = attempt.response.body;
    const std::size_t room = attempt.request.response_bytes_max - body.size();
    body.append(data, std::min(size, room));
    attempt.is_cut_off = size > room;
    if (attempt.is_cut_off) stop_reading();
    return !attempt.is_cut_off;
  };
  client_->set_logger([this](const auto&, const auto&) { stop_reading(); });
  client_->set_socket_options([this, &attempt](int socket) {
    session_ = nullptr;
    attempt.call.watch(socket);
  });
  // The library repeats a request if the peer seems to have closed a TLS connection, and would read
  // a response even if nothing was sent. A request is sent once.
  client_->set_header_writer(
      [this, &attempt](httplib::Stream& stream, httplib::Headers& headers) -> ssize_t {
        if (attempt.sending || attempt.call.is_over()) {
          client_->stop();
          return -1;
        }
        attempt.sending = true;
        std::string head;
        for (const auto& [name, value] : headers) {
          head.append(name).append(": ").append(value).append("\r\n");
        }
        head += "\r\n";
        return stream.write(head.data(), head.size());
      });
}

PinnedClient::Sent PinnedClient::send(const ClientRequest& request, CallDeadlines::Call& call) {
  if (const std::string_view fault = unsendable(request); !fault.empty()) {
    return {unexpected(Slug::malformed_request, "The " + std::string(fault) + ".")};
  }
  if (call.is_over()) return {timed_out()};
  httplib::Request out = library_request(request);
  Attempt attempt{request, call};
  follow(attempt, out);
  set_timeouts(*client_, request);
  if (client_->is_socket_open() != 0) {
    call.watch(client_->socket());
    if (session_ != nullptr) SSL_set_shutdown(session_, 0);
  }
  certificate_fault_ = X509_V_OK;
  httplib::Response in;
  auto error = httplib::Error::Success;
  const bool whole = client_->send(out, in, error);
  if (!attempt.sending) return {rejection(error)};
  // Without either field, the end of the connection is the end of the body, also when the deadline
  // ended the connection.
  const bool has_end = in.has_header("Content-Length") || in.has_header("Transfer-Encoding") ||
                       in.status == kNoContent || in.status == kNotModified;
  if ((!whole || !has_end) && !attempt.is_cut_off && call.is_over()) return {timed_out()};
  if (!whole && (!attempt.has_head || in.status < kFirstFinalStatus)) {
    return {no_response(in, error), false, true};
  }
  attempt.response.status = in.status;
  for (const auto& [name, value] : in.headers) attempt.response.headers.emplace_back(name, value);
  attempt.response.truncated = !whole;
  return {std::move(attempt.response), whole && keeps_ && keeps_connection(in), false};
}

bool PinnedClient::is_quiet() const {
  pollfd readable{client_->socket(), POLLIN, 0};
  return client_->is_socket_open() != 0 && ::poll(&readable, 1, 0) == 0;
}

// --- Client -------------------------------------------------------------------------------------

namespace {

// Shorter than the keep-alive timeout of common servers (gunicorn 2 s, Node.js and Apache 5 s), so
// that a server does not close a connection at the moment of its reuse.
constexpr std::int64_t kIdleMaxMs = 1'000;
constexpr std::size_t kIdleMax = 1'024;
constexpr std::size_t kIdlePerPlaceMax = 64;
constexpr std::int64_t kNotKeptMs = 600'000;
constexpr std::size_t kNotKeptMax = 1'024;

std::string place_of(const ClientRequest& request) {
  return (request.tls ? "s " : "p ") + request.host + ' ' + std::to_string(request.port) + ' ' +
         request.address;
}

bool is_readable_file(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return false;
  ::close(fd);
  return true;
}

}  // namespace

const std::string* ClientResponse::header(std::string_view name) const {
  for (const auto& [key, value] : headers) {
    if (same_name(key, name)) return &value;
  }
  return nullptr;
}

Client::Client(std::string ca_bundle, Connections connections)
    : keeps_(connections == Connections::keep), trust_(std::move(ca_bundle)) {
  // The library writes to sockets without a flag against SIGPIPE.
  std::signal(SIGPIPE, SIG_IGN);
}

Client::~Client() = default;

/// Also closes connections that were idle for too long.
std::unique_ptr<PinnedClient> Client::take(const std::string& place) {
  const std::int64_t now = clock_.monotonic_ms();
  std::vector<Idle> dropped;  // closed after the lock is released
  const Lock lock(mutex_);
  const auto it = idle_.find(place);
  if (it == idle_.end()) return nullptr;
  std::unique_ptr<PinnedClient> found;
  while (!found && !it->second.empty()) {
    Idle last = std::move(it->second.back());
    it->second.pop_back();
    --idle_count_;
    if (now - last.since_ms < kIdleMaxMs && last.connection->is_quiet()) {
      found = std::move(last.connection);
    } else {
      dropped.push_back(std::move(last));
    }
  }
  if (it->second.empty()) idle_.erase(it);
  return found;
}

void Client::give_back(const std::string& place, std::unique_ptr<PinnedClient> connection) {
  const std::int64_t now = clock_.monotonic_ms();
  std::vector<Idle> dropped;
  const Lock lock(mutex_);
  // The pool is full of connections to hosts that are no longer used, so drop all of them.
  if (idle_count_ >= kIdleMax) {
    for (auto& [key, list] : idle_) {
      for (Idle& idle : list) dropped.push_back(std::move(idle));
    }
    idle_.clear();
    idle_count_ = 0;
  }
  if (const auto it = not_kept_until_ms_.find(place); it != not_kept_until_ms_.end()) {
    if (now < it->second) {
      dropped.push_back({std::move(connection), now});
      return;
    }
    not_kept_until_ms_.erase(it);
  }
  std::vector<Idle>& list = idle_[place];
  if (list.size() >= kIdlePerPlaceMax) {
    dropped.push_back({std::move(connection), now});
    return;
  }
  list.push_back({std::move(connection), now});
  ++idle_count_;
}

void Client::stop_keeping(const std::string& place) {
  const std::int64_t until_ms = clock_.monotonic_ms() + kNotKeptMs;
  const Lock lock(mutex_);
  if (not_kept_until_ms_.size() >= kNotKeptMax) not_kept_until_ms_.clear();
  not_kept_until_ms_[place] = until_ms;
}

Result<ClientResponse> Client::send(const ClientRequest& request) {
  CallDeadlines::Call call(deadlines_, request.total_timeout_ms);
  const std::string place = place_of(request);
  std::unique_ptr<PinnedClient> connection = take(place);
  const bool is_reused = connection != nullptr;
  if (!is_reused) {
    COFFER_TRY(connection, PinnedClient::make(request, trust_, keeps_));
    const Lock lock(mutex_);
    ++opened_;
  }
  require_lease();
  auto result = connection->send(request, call);
  if (result.reusable) {
    give_back(place, std::move(connection));
  } else if (is_reused && result.hung_up) {
    stop_keeping(place);
  }
  return std::move(result.response);
}

std::size_t Client::idle() const {
  const Lock lock(mutex_);
  return idle_count_;
}

std::size_t Client::opened() const {
  const Lock lock(mutex_);
  return opened_;
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
      "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",  // RHEL, the source of the second file
  };
  for (const char* place : kUsualPlaces) {
    if (is_readable_file(place)) return std::string(place);
  }
  return unexpected(Slug::unexpected_error,
                    "No CA bundle was found. Install ca-certificates or configure a file of "
                    "trusted roots.");
}

Result<std::string> find_ca_bundle(const std::string& option) {
  return find_ca_bundle(option, environment_variable("SSL_CERT_FILE").value_or(""));
}

}  // namespace coffer::http
