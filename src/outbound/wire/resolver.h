// Resolves names to addresses without NSS, because a static binary that uses NSS crashes on some
// machines.
#pragma once

#include <atomic>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "base/result.h"

namespace coffer::outbound {

/// Version of the resolver library, such as "1.18.1".
std::string cares_version();

class Resolver {
 public:
  virtual ~Resolver() = default;
  /// All IPv4 and IPv6 addresses of `name` in numeric form, without duplicates, in the order to
  /// try. A numeric address (IPv6 without brackets) is returned unchanged. A name that only
  /// resembles an address ("127.1", "0x7f.1", "2130706433") is `malformed-request`.
  /// `provider-unavailable`: no address; `provider-timeout`: no response in time. The caller checks
  /// the addresses.
  virtual Result<std::vector<std::string>> resolve(const std::string& name, int timeout_ms) = 0;
  /// After this time, every present and future call ends as if its time had run out. Permanent.
  virtual void cut_after(int /*ms*/) {}
};

/// Reads /etc/hosts, then queries the servers in /etc/resolv.conf. Reads both files at each call,
/// so a change needs no restart. A name is always complete: no search domain is added to it,
/// because its owner would receive calls meant for another host. "localhost" is always the loopback
/// address (RFC 6761).
class CaresResolver final : public Resolver {
 public:
  CaresResolver();  // throws InternalError if c-ares cannot start
  Result<std::vector<std::string>> resolve(const std::string& name, int timeout_ms) override;
  void cut_after(int ms) override;

 private:
  std::atomic<std::int64_t> cut_at_ms_{std::numeric_limits<std::int64_t>::max()};  // monotonic
};

}  // namespace coffer::outbound
