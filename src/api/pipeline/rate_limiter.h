// Token buckets per application, and per client on the login routes (docs/contract.md#rate-limits).
// All limits are settings; 0 is off. Every key belongs to a caller with valid credentials;
// base/limits/guess_table.h counts wrong ones.
#pragma once

#include <cstdint>
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
  int login_per_min = 0;  // per client; 0: no limit
};

class RateLimiter {
 public:
  RateLimiter(RateLimits limits, const Clock& clock) : limits_(limits), clock_(clock) {}

  using Headers = std::vector<std::pair<std::string, std::string>>;
  /// Takes a token for one request. Adds RateLimit-Policy and RateLimit to `headers` if a limit
  /// applies. Requests that move money also take a token from a bucket of half the size.
  Result<void> admit(const Caller& caller, bool moves_money, Headers& headers);

  /// Takes a token for one login of a client with valid credentials, such as `client:x`.
  Result<void> admit_login(const std::string& key);
  int login_per_min() const { return limits_.login_per_min; }

 private:
  struct Level {
    double tokens = 0;
    std::int64_t at_ms = 0;
  };
  /// Seconds to wait, or 0 if a token was taken.
  int draw(Level& level, double per_s, double burst, std::int64_t now_ms) const;
  Level& level(const std::string& key, double burst, std::int64_t now_ms) COFFER_REQUIRES(mutex_);
  void forget_idle(std::int64_t now_ms) COFFER_REQUIRES(mutex_);

  static constexpr std::size_t kSweepMin = 1'024;
  const RateLimits limits_;
  const Clock& clock_;
  Mutex mutex_;
  std::unordered_map<std::string, Level> levels_ COFFER_GUARDED_BY(mutex_);
  std::size_t sweep_at_ COFFER_GUARDED_BY(mutex_) = kSweepMin;
};

}  // namespace coffer::api
