#include "workers/messages.h"

#include <algorithm>
#include <utility>

#include "flows/operations/alerts.h"
#include "flows/operations/messages.h"

namespace coffer::workers {
namespace {

constexpr std::int64_t kLookEveryMs = 10'000;
constexpr std::int64_t kSendAgainMs = 1'000;
constexpr int kRoundsMax = 1'000;

}  // namespace

Messages::Messages(const flows::Context& context, std::function<Result<ConditionFacts>()> look)
    : context_(context), look_(std::move(look)), worker_("messages", [this] { return step(); }) {}

int Messages::run_due() {
  look();
  int done = 0;
  for (; done < kRoundsMax; ++done) {
    const auto sent = flows::send_due_message(context_);
    if (!sent || !*sent) break;
  }
  return done;
}

/// Ignores a failure (overloaded, disk full): the next check finds the same conditions.
void Messages::look() {
  const store::ReadersScope readers(store::Readers::control);
  if (const auto facts = look_()) static_cast<void>(flows::record_alerts(context_, *facts));
}

// One message per step, so that a stop waits for a single attempt.
std::int64_t Messages::step() {
  if (const std::int64_t now_ms = SystemClock().monotonic_ms(); now_ms >= look_again_ms_) {
    look_again_ms_ = now_ms + kLookEveryMs;
    look();
  }
  const store::ReadersScope readers(store::Readers::notifications);
  const auto sent = flows::send_due_message(context_);
  if (!sent) return kSendAgainMs;  // overloaded or disk full: messages wait in their rows
  if (*sent) return 0;
  // A due alert that waits for an earlier message about it is looked for again with the conditions.
  std::int64_t rest_ms = look_again_ms_ - SystemClock().monotonic_ms();
  const auto next =
      context_.read([](store::Connection& db) { return store::next_notification_due(db); });
  if (next && *next) rest_ms = std::min(rest_ms, (*next)->ms - context_.queue.now().ms);
  return std::max<std::int64_t>(0, rest_ms);
}

}  // namespace coffer::workers
