// What coffer itself sends over HTTP: cpp-httplib's client, pinned to an address, with one deadline
// for the whole call.
//
// It connects to an address that the caller has resolved and judged, never asks a name service,
// follows no redirect, uses no proxy, and under TLS never goes without verification.
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

class PinnedClient;  // http/pinned_client.h

struct ClientRequest {
  std::string method = "GET";
  bool tls = true;
  std::string host;  // for Host, SNI and the certificate; an IPv6 address without brackets
  int port = 443;
  std::string target = "/";  // path and query, already encoded
  std::string address;       // numeric; where the connection goes, whatever `host` says
  std::vector<std::pair<std::string, std::string>> headers;  // without Host and Content-Length
  std::string body;
  int connect_timeout_ms = 5'000;              // for TCP, and again for each wait of the handshake
  int total_timeout_ms = 15'000;               // everything
  std::size_t response_bytes_max = 64 * 1024;  // of the body; a header has 100 lines at most
};

struct ClientResponse {
  int status = 0;
  std::vector<std::pair<std::string, std::string>> headers;
  std::string body;
  bool truncated = false;  // longer than asked for, or broken off

  /// First header of this name, case-insensitive; nullptr when absent.
  const std::string* header(std::string_view name) const;
};

/// Thread safe. What comes back is data of a stranger.
class Client {
 public:
  enum class Connections {
    close,  // one request each
    keep,   // for the next request to the same host, port, security and numeric address
  };

  /// `ca_bundle` as `find_ca_bundle` gives it; may be empty when only plain HTTP is spoken.
  explicit Client(std::string ca_bundle, Connections connections = Connections::close);
  ~Client();
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  /// At most one request on the wire. `provider-unavailable`: no connection, so nothing was sent,
  /// with the reason (certificate and timeout included). `provider-timeout`: the deadline passed
  /// after that. `provider-error`: what came is no HTTP response.
  /// `malformed-request`: the request could not be sent as it is.
  ///
  /// A kept connection is used only while the peer has not closed it; when the peer closes it with
  /// the request in flight, the call fails, and for ten minutes no connection to that place is
  /// kept.
  Result<ClientResponse> send(const ClientRequest& request);

  /// Ends every call in progress, and every later one, as if its time had run out. For good.
  void cut() { deadlines_.cut(); }

  /// Connections that wait for a next request.
  std::size_t idle() const;
  /// Opened so far; tests see by it what was reused.
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

/// The file of trusted roots: the option, else SSL_CERT_FILE, else the first of the usual places
/// that can be read. A Problem when the one that was named cannot be read, or when there is none.
/// Empty text means not set.
Result<std::string> find_ca_bundle(const std::string& option, const std::string& ssl_cert_file);

}  // namespace coffer::http
