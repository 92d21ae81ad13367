// Restricts the targets of deliveries, so that a webhook cannot reach the server's internal network
// (docs/contract.md#webhooks).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/limits/address_range.h"
#include "domain/identity/tenant.h"
#include "outbound/wire/resolver.h"
#include "outbound/wire/url.h"

namespace coffer::outbound {

/// Whether the address is public: not private, loopback, link-local, shared, multicast, reserved or
/// for documentation, and not an IPv6 address with an embedded IPv4 address. False for text that is
/// not a numeric address.
bool is_public_address(std::string_view address);

/// The targets that the operator permits in addition to public addresses and the ports of HTTPS and
/// HTTP: host names and CIDRs, which may use any port, and further ports for public addresses.
class AllowedTargets {
 public:
  /// `10.1.2.0/24`, `fd00::/8`, a single address, or a host name; and ports, as in `8443`. A
  /// Problem's detail states the invalid entry and the error.
  static Result<AllowedTargets> parse(const std::vector<std::string>& entries,
                                      const std::vector<std::string>& ports = {});

  /// In lower case and without a final dot.
  bool has_name(std::string_view host) const;
  /// Addresses of cloud metadata services require an entry with exactly that address.
  bool has_address(std::string_view address) const;
  bool has_port(int port) const;
  bool has_ranges() const { return !ranges_.empty(); }

 private:
  std::vector<int> ports_;
  std::vector<std::string> names_;
  std::vector<AddressRange> ranges_;
};

class TargetGuard {
 public:
  /// `resolver` must outlive the guard. Thread-safe if `resolver` is.
  TargetGuard(Resolver& resolver, AllowedTargets allowed)
      : resolver_(resolver), allowed_(std::move(allowed)) {}

  /// Checks the text of the URL: https (http in the sandbox), no user name, a host that is a name
  /// or a plain address, no rejected address, and a permitted port. Otherwise
  /// `webhook-target-refused`. Does not resolve the name, so the result reveals nothing about
  /// internal names. If CIDRs are permitted, a name may have any port, because its address is
  /// checked later.
  Result<Url> check_url(std::string_view text, Environment environment) const;

  /// Resolves the host and checks its addresses. Returns them in the order to try, or none if one
  /// of them is rejected. `webhook-target-refused`, or the Problem of the resolver.
  Result<std::vector<std::string>> addresses(const Url& url, int timeout_ms) const;

 private:
  bool may_reach(const std::string& host, std::string_view address) const;
  bool may_use_port(const Url& url, std::string_view address) const;

  Resolver& resolver_;
  const AllowedTargets allowed_;
};

}  // namespace coffer::outbound
