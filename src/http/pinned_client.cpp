#include "http/pinned_client.h"

#include <arpa/inet.h>
#include <httplib.h>
#include <openssl/ssl.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstdint>

#include "base/text/ascii.h"
#include "http/certificate.h"
#include "http/gate.h"
#include "http/message.h"

namespace coffer::http {
namespace {

constexpr std::int64_t kMsPerS = 1'000;
constexpr std::int64_t kUsPerMs = 1'000;
constexpr int kFirstFinalStatus = 200;

/// The Host field according to RFC 9110 section 7.2.
std::string host_field(const ClientRequest& request) {
  const bool is_v6 = request.host.find(':') != std::string::npos;
  const std::string host = is_v6 ? "[" + request.host + "]" : request.host;
  return request.port == (request.tls ? 443 : 80) ? host
                                                  : host + ":" + std::to_string(request.port);
}

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
  if (!request.body.empty() || request.method != "GET") {
    out.headers.emplace("Content-Length", std::to_string(request.body.size()));
  }
  return out;
}

/// Why there is no final response to a request that was sent.
Unexpected no_response(bool has_head, int status) {
  if (!has_head) {
    return unexpected(Slug::provider_error,
                      "The connection was closed, or the response is not valid HTTP.");
  }
  return unexpected(Slug::provider_error, "The server sent the informational status " +
                                              std::to_string(status) + " instead of a response.");
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

PinnedClient::~PinnedClient() = default;

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
Unexpected PinnedClient::rejection(int error) const {
  const auto code = static_cast<httplib::Error>(error);
  std::string reason = httplib::to_string(code);
  if (code == httplib::Error::Connection) {
    return unexpected(Slug::provider_unavailable, std::string(kNotConnected));
  }
  if (code == httplib::Error::ConnectionTimeout) reason = "the connection attempt timed out";
  if (code == httplib::Error::SSLConnection) reason = "the TLS handshake failed";
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
  if (!attempt.sending) return {rejection(static_cast<int>(error))};
  if (!whole && !attempt.is_cut_off && call.is_over()) {
    return {unexpected(Slug::provider_timeout, "The request timed out.")};
  }
  if (!whole && (!attempt.has_head || in.status < kFirstFinalStatus)) {
    return {no_response(attempt.has_head, in.status), false, true};
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

}  // namespace coffer::http
