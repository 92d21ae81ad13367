// A small HTTP client for what coffer itself sends: one request, one connection, one deadline.
//
// It connects to an address that the caller has resolved and judged, never asks a name service,
// follows no redirect, and under TLS never goes without verification.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "http/tls.h"

namespace coffer::http {

struct ClientRequest {
  std::string method = "GET";
  bool tls = true;
  std::string host;  // for Host, SNI and the certificate; an IPv6 address without brackets
  int port = 443;
  std::string target = "/";  // path and query, already encoded
  std::string address;       // numeric; where the connection goes, whatever `host` says
  std::vector<std::pair<std::string, std::string>> headers;  // without Host and Content-Length
  std::string body;
  int connect_timeout_ms = 5'000;              // TCP and TLS
  int total_timeout_ms = 15'000;               // everything
  std::size_t response_bytes_max = 64 * 1024;  // of the body; the header has 16 KiB
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
  /// `ca_bundle` as `find_ca_bundle` gives it; may be empty when only plain HTTP is spoken.
  explicit Client(std::string ca_bundle);

  /// At most one request on the wire. `provider-unavailable`: no connection, so nothing was sent,
  /// with the reason (certificate and timeout included). `provider-timeout`: the deadline passed
  /// after that. `provider-error`: what came is no HTTP response.
  /// `malformed-request`: the request could not be sent as it is.
  Result<ClientResponse> send(const ClientRequest& request);

 private:
  TlsTrust trust_;
};

/// The file of trusted roots: the option, else SSL_CERT_FILE, else the first of the usual places
/// that can be read. A Problem when the one that was named cannot be read, or when there is none.
/// Empty text means not set.
Result<std::string> find_ca_bundle(const std::string& option, const std::string& ssl_cert_file);

}  // namespace coffer::http
