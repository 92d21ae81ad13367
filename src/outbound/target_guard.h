// Where deliveries may go: a webhook must not become a way into the network the gateway stands in
// (docs/contract.md#webhooks).
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "domain/identity/tenant.h"
#include "outbound/resolver.h"
#include "outbound/url.h"

namespace coffer::outbound {

/// Not private, loopback, link-local, shared, multicast, reserved or for documentation, and no IPv6
/// address that carries an IPv4 one inside. False for text that is no numeric address.
bool is_public_address(std::string_view address);

/// What the operator opens beyond public addresses: host names and CIDRs.
class AllowedTargets {
 public:
  /// `10.1.2.0/24`, `fd00::/8`, a single address, or a host name. A Problem's detail says what is
  /// wrong with an entry.
  static Result<AllowedTargets> parse(const std::vector<std::string>& entries);

  /// In lower case and without a final dot.
  bool has_name(std::string_view host) const;
  /// Addresses of cloud metadata services only by an entry that is exactly theirs.
  bool has_address(std::string_view address) const;

 private:
  struct Range {
    std::array<std::uint8_t, 16> bytes{};
    int size = 4;  // bytes of an address of the family
    int bits = 32;
  };
  std::vector<std::string> names_;
  std::vector<Range> ranges_;
};

class TargetGuard {
 public:
  /// `resolver` outlives the guard, which is thread safe as it is.
  TargetGuard(Resolver& resolver, AllowedTargets allowed)
      : resolver_(resolver), allowed_(std::move(allowed)) {}

  /// What the text alone says: https (http in the sandbox), no user names, a host that is a name or
  /// a plain address, no address that is refused. Everything else is `webhook-target-refused`.
  Result<Url> check_url(std::string_view text, Environment environment) const;

  /// Resolves and judges: every address has to be good, or none is used. In the order to try.
  /// `webhook-target-refused`, or what the resolver says.
  Result<std::vector<std::string>> addresses(const Url& url, int timeout_ms) const;

 private:
  bool may_reach(const std::string& host, std::string_view address) const;

  Resolver& resolver_;
  const AllowedTargets allowed_;
};

}  // namespace coffer::outbound
