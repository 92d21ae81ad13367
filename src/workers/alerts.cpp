#include "workers/alerts.h"

#include <algorithm>
#include <utility>

namespace coffer::workers {
namespace {

constexpr std::int64_t kLookEveryMs = 10'000;
constexpr int kAlertRoundsMax = 1'000;

}  // namespace

Alerts::Alerts(const flows::Context& context, outbound::AlertSender& sender,
               std::function<Result<ConditionFacts>()> look)
    : context_(context),
      sender_(sender),
      look_(std::move(look)),
      worker_("alerts", [this] { return step(); }) {}

int Alerts::run_due() {
  look();
  int done = 0;
  for (; done < kAlertRoundsMax; ++done) {
    const auto sent = flows::send_due_alert(context_, sender_);
    if (!sent || !*sent) break;
  }
  return done;
}

/// Ignores a failure (overloaded, disk full): the next check finds the same conditions.
void Alerts::look() {
  const store::ReadersScope readers(store::Readers::control);
  if (const auto facts = look_()) {
    static_cast<void>(flows::record_alerts(context_, sender_, *facts));
  }
}

// One message per step, so that a stop waits for a single attempt.
std::int64_t Alerts::step() {
  if (const std::int64_t now_ms = SystemClock().monotonic_ms(); now_ms >= look_again_ms_) {
    look_again_ms_ = now_ms + kLookEveryMs;
    look();
  }
  const store::ReadersScope readers(store::Readers::notifications);
  const auto sent = flows::send_due_alert(context_, sender_);
  if (sent && *sent) return 0;
  return std::max<std::int64_t>(0, look_again_ms_ - SystemClock().monotonic_ms());
}

}  // namespace coffer::workers
