// Asks a server for its health.
#pragma once

#include <string>

#include "config/config.h"
#include "http/client.h"
#include "outbound/wire/url.h"

namespace coffer::cli {

struct HealthTarget {
  std::string text;  // as shown
  outbound::Url url;
  std::string address = {};    // numeric; empty: that of the URL's host
  std::string ca_bundle = {};  // for https
};

/// `/healthz` of a listener on this machine; `tls_cert` is its certificate file, empty for plain
/// HTTP. Its own certificate is trusted, under a name that it has, because that is seldom the name
/// of the loopback address.
HealthTarget health_target(const HostPort& listener, const std::string& tls_cert);
/// `timeout_ms`: for the whole call. A Problem: there was no response.
Result<http::ClientResponse> ask_health(const HealthTarget& target, int timeout_ms);

}  // namespace coffer::cli
