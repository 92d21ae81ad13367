// Names to addresses, without NSS: a static binary that asks NSS crashes on some hosts.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace coffer::outbound {

/// Implementations are safe to call from several threads.
/// Of the library inside, as in "1.18.1".
std::string cares_version();

class Resolver {
 public:
  virtual ~Resolver() = default;
  /// All IPv4 and IPv6 addresses of `name` in numeric form, without duplicates, in the order to
  /// try. A numeric address (IPv6 without brackets) is returned as it is; a name that only looks
  /// like one
  /// ("127.1", "0x7f.1", "2130706433") is `malformed-request`. `provider-unavailable`: no address;
  /// `provider-timeout`: no response in time. The caller checks the addresses.
  virtual Result<std::vector<std::string>> resolve(const std::string& name, int timeout_ms) = 0;
};

/// Asks /etc/hosts, then the servers of /etc/resolv.conf, both read anew at each call, so that a
/// change needs no restart. "localhost" is the loopback, whatever they say (RFC 6761).
class CaresResolver final : public Resolver {
 public:
  CaresResolver();  // throws InternalError when c-ares cannot start
  Result<std::vector<std::string>> resolve(const std::string& name, int timeout_ms) override;
};

}  // namespace coffer::outbound
