#include "api/pipeline/rate_limiter.h"

#include <algorithm>
#include <cmath>

namespace coffer::api {
namespace {

constexpr std::int64_t kIdleMs = 120'000;

Problem limited(int wait_s) {
  return Problem(Slug::rate_limited, "Too many requests; wait " + std::to_string(wait_s) + " s.")
      .retry_after(wait_s);
}

}  // namespace

RateLimiter::Level& RateLimiter::level(const std::string& key, double burst, std::int64_t now_ms) {
  if (levels_.size() >= sweep_at_) forget_idle(now_ms);
  const auto [it, fresh] = levels_.try_emplace(key);
  if (fresh) it->second = {burst, now_ms};
  return it->second;
}

/// Removes idle callers. It runs only when the table has doubled since the last time.
void RateLimiter::forget_idle(std::int64_t now_ms) {
  std::erase_if(levels_, [&](const auto& item) { return now_ms - item.second.at_ms > kIdleMs; });
  sweep_at_ = std::max(kSweepMin, 2 * levels_.size());
}

int RateLimiter::draw(Level& level, double per_s, double burst, std::int64_t now_ms) const {
  const double elapsed_s = static_cast<double>(now_ms - level.at_ms) / 1000.0;
  level.tokens = std::min(burst, level.tokens + elapsed_s * per_s);
  level.at_ms = now_ms;
  if (level.tokens >= 1) {
    level.tokens -= 1;
    return 0;
  }
  return std::max(1, static_cast<int>(std::ceil((1 - level.tokens) / per_s)));
}

Result<void> RateLimiter::admit(const Caller& caller, bool moves_money, Headers& headers) {
  const bool production = caller.tenant.environment == Environment::production;
  const RateLimits::Bucket limit = production ? limits_.production : limits_.sandbox;
  if (limit.per_s == 0) return {};
  const auto per_s = static_cast<double>(limit.per_s);
  const auto burst = static_cast<double>(std::max(1, limit.burst));
  const std::string key = "application:" + caller.application.to_string();
  const std::int64_t now = clock_.monotonic_ms();
  const Lock lock(mutex_);
  Level& all = level(key, burst, now);
  int wait_s = draw(all, per_s, burst, now);
  if (wait_s == 0 && moves_money) {
    Level& money = level(key + ":money", std::max(1.0, burst / 2), now);
    wait_s = draw(money, per_s / 2, std::max(1.0, burst / 2), now);
  }
  // draft-ietf-httpapi-ratelimit-headers: the quota, and the window in which it refills from empty.
  const double left = std::max(0.0, std::floor(level(key, burst, now).tokens));
  headers.emplace_back("RateLimit-Policy",
                       "\"default\";q=" + std::to_string(static_cast<int>(burst)) +
                           ";w=" + std::to_string(static_cast<int>(std::ceil(burst / per_s))));
  headers.emplace_back(
      "RateLimit", "\"default\";r=" + std::to_string(static_cast<int>(left)) +
                       ";t=" + std::to_string(static_cast<int>(std::ceil((burst - left) / per_s))));
  if (wait_s > 0) return unexpected(limited(wait_s));
  return {};
}

Result<void> RateLimiter::admit_login(const std::string& key) {
  if (limits_.login_per_min == 0) return {};
  const auto burst = static_cast<double>(limits_.login_per_min);
  const std::int64_t now = clock_.monotonic_ms();
  const Lock lock(mutex_);
  const int wait_s = draw(level(key, burst, now), burst / 60.0, burst, now);
  if (wait_s > 0) return unexpected(limited(wait_s));
  return {};
}

}  // namespace coffer::api
