#include "domain/webhooks/webhook.h"

#include <algorithm>

namespace coffer {
namespace {

constexpr int kJitterPercent = 20;

bool is_success(int status) { return status >= 200 && status < 300; }

std::int64_t jittered(std::int64_t delay_ms, std::uint64_t jitter) {
  const auto spread = static_cast<std::uint64_t>(delay_ms) * kJitterPercent / 100;
  if (spread == 0) return delay_ms;
  return delay_ms - static_cast<std::int64_t>(spread) +
         static_cast<std::int64_t>(jitter % (2 * spread + 1));
}

/// The delay before the attempt after attempt number `attempt`.
std::int64_t scheduled_delay(int attempt, const std::vector<std::int64_t>& delays) {
  if (delays.empty()) return 0;
  const auto index = std::min(static_cast<std::size_t>(attempt - 1), delays.size() - 1);
  return delays[index];
}

}  // namespace

NextStep next_step_after(const AttemptResponse& response, int attempt, Environment environment,
                         const DeliveryPolicy& policy, std::uint64_t jitter) {
  constexpr int kGone = 410;
  constexpr int kTooMany = 429;
  constexpr int kUnavailable = 503;
  NextStep next;
  if (is_success(response.status)) {
    next.state = DeliveryState::delivered;
    return next;
  }
  if (response.status == kGone) {
    next.state = DeliveryState::dead;
    next.disables = true;
    return next;
  }
  const auto& delays = environment == Environment::production ? policy.production_delays_ms
                                                              : policy.sandbox_delays_ms;
  const std::int64_t asked =
      std::clamp<std::int64_t>(response.retry_after_ms.value_or(0), 0, policy.retry_after_max_ms);
  // The delay requested by the endpoint is a minimum that the jitter never undercuts.
  next.delay_ms = std::max(jittered(scheduled_delay(attempt, delays), jitter), asked);
  if (response.status == kTooMany || response.status == kUnavailable) {
    next.quiet_ms = asked > 0 ? asked : scheduled_delay(1, delays);
  }
  if (attempt >= policy.attempts) next.state = DeliveryState::dead;
  return next;
}

}  // namespace coffer
