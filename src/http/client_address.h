// The address of the client, which may be behind a proxy.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/limits/address_range.h"
#include "http/message.h"

namespace coffer::http {

/// Whether a numeric address is a loopback address, including IPv4-mapped ones (::ffff:127.0.0.1).
bool is_loopback(std::string_view address);

/// Whether a header shows that a proxy forwarded the request.
bool is_forwarded(const Request& request);

/// The proxies whose X-Forwarded-For, X-Forwarded-Proto and X-Forwarded-Host count (setting
/// `trusted_proxies`). Each may be a list, in one header or several. `Forwarded` (RFC 7239) does
/// not count: most proxies pass it on as the client sent it. Immutable; safe from any thread.
class TrustedProxies {
 public:
  TrustedProxies() = default;  // none
  explicit TrustedProxies(AddressList proxies) : proxies_(std::move(proxies)) {}

  /// Whether the peer of the connection is a trusted proxy.
  bool passed_on(const Request& request) const { return proxies_.contains(request.peer); }
  /// Whether a trusted proxy says that the client's own connection has TLS (X-Forwarded-Proto).
  bool has_tls(const Request& request) const;
  /// The host and port that the client's browser uses: X-Forwarded-Host of a trusted proxy,
  /// otherwise Host. Empty without both. Only for comparisons with Origin and configured names:
  /// proxies that do not set the header pass it on as the client sent it.
  std::string host(const Request& request) const;
  /// Numeric address of the client, for counting failed attempts and for permitted networks: the
  /// last address in X-Forwarded-For that is not a trusted proxy. Earlier entries may be forged by
  /// the client. An entry may have a port, brackets, a zone or the IPv4-mapped form. If it is no
  /// address at all, the client is "unknown", which is in no network. If the peer is not a trusted
  /// proxy, the header is ignored and the peer is the client.
  std::string client_address(const Request& request) const;

 private:
  std::size_t client_at(const std::vector<std::string_view>& hops) const;
  std::string_view forwarded(const Request& request, std::string_view name) const;

  AddressList proxies_;
};

/// The network of one subscriber: an IPv4 address, or the /64 of an IPv6 address.
std::string network_of(const std::string& address);

}  // namespace coffer::http
