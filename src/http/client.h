// The client for HTTP calls to other machines: cpp-httplib's client, pinned to an address, with one
// deadline for the whole call.
//
// It connects to an address that the caller has resolved and checked. It never resolves names,
// follows no redirects, uses no proxy, and always verifies TLS certificates.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"
#include "base/result.h"
#include "http/call_deadlines.h"
#include "http/tls.h"

namespace coffer::http {

class PinnedClient;

struct ClientRequest {
  std::string method = "GET";
  bool tls = true;
  std::string host;  // for Host, SNI and the certificate; an IPv6 address without brackets
  int port = 443;
  std::string target = "/";  // path and query, already encoded
  std::string address;       // numeric; the address to connect to, independent of `host`
  std::vector<std::pair<std::string, std::string>> headers;  // without Host and Content-Length
  std::string body;
  int connect_timeout_ms = 5'000;  // for TCP, and again for each wait of the handshake
  int total_timeout_ms = 15'000;   // for the whole call
  // Maximum size of the body. A header has at most 1,000 fields and 256 KiB.
  std::size_t response_bytes_max = 64 * 1024;
};

struct ClientResponse {
  int status = 0;
  std::vector<std::pair<std::string, std::string>> headers;
  std::string body;
  bool truncated = false;  // longer than the maximum, or incomplete

  /// The first header with this name (case-insensitive); nullptr if absent.
  const std::string* header(std::string_view name) const;
};

/// The value of Host according to RFC 9110 section 7.2.
std::string host_field(const ClientRequest& request);

/// The detail of `provider-unavailable` if no server accepted the connection.
inline constexpr std::string_view kNotConnected = "Connection refused, or host unreachable.";

/// Thread-safe. Responses contain untrusted data.
class Client {
 public:
  enum class Connections {
    close,  // one connection per request
    keep,   // reuse for the next request with the same host, port, security and numeric address
  };

  /// `ca_bundle` is the result of `find_ca_bundle`; it may be empty if only plain HTTP is used.
  explicit Client(std::string ca_bundle, Connections connections = Connections::close);
  ~Client();
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  /// Sends at most one request. `provider-unavailable`: no connection, so nothing was sent; with
  /// the reason, including certificate and timeout. `provider-timeout`: the deadline passed after
  /// that. `provider-error`: the response is not HTTP, or its header is too large.
  /// `malformed-request`: the request cannot be sent as it is. Up to 64 informational responses
  /// (RFC 9110 section 15.2) before the response are skipped.
  ///
  /// A kept connection is used only while the peer has not closed it. If the peer closes it with
  /// the request in flight, the call fails, and connections to this destination are not kept for
  /// ten minutes.
  Result<ClientResponse> send(const ClientRequest& request);

  /// Ends every present and future call as if its time had run out. Permanent.
  void cut() { deadlines_.cut(); }
  /// The same, after a time.
  void cut_after(int ms) { deadlines_.cut_after(ms); }
  /// For calls in other protocols, which then end with those of this client.
  CallDeadlines& deadlines() { return deadlines_; }

  /// Number of idle connections.
  std::size_t idle() const;
  /// Number of connections opened so far. Tests use it to detect reuse.
  std::size_t opened() const;

 private:
  struct Idle {
    std::unique_ptr<PinnedClient> connection;
    std::int64_t since_ms = 0;
  };
  std::unique_ptr<PinnedClient> take(const std::string& place);
  void give_back(const std::string& place, std::unique_ptr<PinnedClient> connection);
  void stop_keeping(const std::string& place);

  const bool keeps_;
  const SystemClock clock_;
  TlsTrust trust_;
  CallDeadlines deadlines_;
  mutable Mutex mutex_;
  std::map<std::string, std::vector<Idle>> idle_ COFFER_GUARDED_BY(mutex_);
  std::map<std::string, std::int64_t> not_kept_until_ms_ COFFER_GUARDED_BY(mutex_);
  std::size_t idle_count_ COFFER_GUARDED_BY(mutex_) = 0;
  std::size_t opened_ COFFER_GUARDED_BY(mutex_) = 0;
};

/// The file of trusted roots: the option, otherwise the variable SSL_CERT_FILE, otherwise the first
/// readable standard location. A Problem if the configured file cannot be read, or if no file
/// exists. Empty text means not set.
Result<std::string> find_ca_bundle(const std::string& option);
Result<std::string> find_ca_bundle(const std::string& option, const std::string& ssl_cert_file);

}  // namespace coffer::http
