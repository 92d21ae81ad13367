// Token buckets per application, and per client and address on the login routes
// (docs/contract.md#rate-limits). All limits are settings; 0 disables a limit.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"
#include "base/result.h"
#include "domain/identity/tenant.h"

namespace coffer::api {

struct RateLimits {
  struct Bucket {
    int per_s = 0;  // 0: no limit
    int burst = 0;
  };
  Bucket production;
  Bucket sandbox;
  int login_per_min = 0;  // per client and per address; 0: no limit
};

class RateLimiter {
 public:
  RateLimiter(RateLimits limits, const Clock& clock) : limits_(limits), clock_(clock) {}

  using Headers = std::vector<std::pair<std::string, std::string>>;
  /// Takes a token for one request. Adds RateLimit-Policy and RateLimit to `headers` if a limit
  /// applies. Requests that move money also take a token from a bucket of half the size.
  Result<void> admit(const Caller& caller, bool moves_money, Headers& headers);

  /// Takes a token for one attempt of a login key, such as `client:x` or `address:y`.
  Result<void> admit_login(const std::string& key);
  /// After a wrong secret: increases the delay before the next attempt of this key, up to a minute.
  void login_failed(const std::string& key);
  void login_succeeded(const std::string& key);

 private:
  struct Level {
    double tokens = 0;
    std::int64_t at_ms = 0;
    int failures = 0;
    std::int64_t blocked_until_ms = 0;
  };
  /// Seconds to wait, or 0 if a token was taken.
  int draw(Level& level, double per_s, double burst, std::int64_t now_ms) const;
  Level& level(const std::string& key, double burst, std::int64_t now_ms) COFFER_REQUIRES(mutex_);
  void forget_idle(std::int64_t now_ms) COFFER_REQUIRES(mutex_);

  static constexpr std::size_t kLevelsMax = 50'000;
  const RateLimits limits_;
  const Clock& clock_;
  Mutex mutex_;
  std::unordered_map<std::string, Level> levels_ COFFER_GUARDED_BY(mutex_);
};

}  // namespace coffer::api
