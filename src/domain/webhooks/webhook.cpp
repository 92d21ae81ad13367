#include "domain/webhooks/webhook.h"

#include <algorithm>

namespace coffer {
namespace {

constexpr int kJitterPercent = 20;

bool is_success(int status) { return status >= 200 && status < 300; }

std::int64_t jittered(std::int64_t delay_ms, std::uint64_t chance) {
  const auto spread = static_cast<std::uint64_t>(delay_ms) * kJitterPercent / 100;
  if (spread == 0) return delay_ms;
  return delay_ms - static_cast<std::int64_t>(spread) +
         static_cast<std::int64_t>(chance % (2 * spread + 1));
}

/// The delay before the attempt after attempt number `attempt`.
std::int64_t scheduled_delay(int attempt, const std::vector<std::int64_t>& delays) {
  if (delays.empty()) return 0;
  const auto index = std::min(static_cast<std::size_t>(attempt - 1), delays.size() - 1);
  return delays[index];
}

}  // namespace

Ruling rule_on(const AttemptResponse& response, int attempt, Environment environment,
               const DeliveryPolicy& policy, std::uint64_t chance) {
  constexpr int kGone = 410;
  constexpr int kTooMany = 429;
  constexpr int kUnavailable = 503;
  Ruling ruling;
  if (is_success(response.status)) {
    ruling.state = DeliveryState::delivered;
    return ruling;
  }
  if (response.status == kGone) {
    ruling.state = DeliveryState::dead;
    ruling.disables = true;
    return ruling;
  }
  const auto& delays = environment == Environment::production ? policy.production_delays_ms
                                                              : policy.sandbox_delays_ms;
  const std::int64_t asked =
      std::clamp<std::int64_t>(response.retry_after_ms.value_or(0), 0, policy.retry_after_max_ms);
  // The delay requested by the endpoint is a minimum that the jitter never undercuts.
  ruling.delay_ms = std::max(jittered(scheduled_delay(attempt, delays), chance), asked);
  if (response.status == kTooMany || response.status == kUnavailable) {
    ruling.quiet_ms = asked > 0 ? asked : scheduled_delay(1, delays);
  }
  if (attempt >= policy.attempts) ruling.state = DeliveryState::dead;
  return ruling;
}

}  // namespace coffer
