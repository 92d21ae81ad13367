#include "workers/notifications.h"

#include <algorithm>

#include "flows/operations/notifications.h"

namespace coffer::workers {
namespace {

constexpr std::int64_t kNotificationLookAgainMs = 1'000;
constexpr int kNotificationRoundsMax = 1'000;

}  // namespace

Notifications::Notifications(const flows::Context& context)
    : context_(context), worker_("notifications", [this] { return step(); }) {}

int Notifications::run_due() {
  int done = 0;
  for (int i = 0; i < kNotificationRoundsMax; ++i) {
    const auto round = flows::send_due_notifications(context_, 1);
    if (!round || round->attempts == 0) break;
    done += round->attempts;
  }
  return done;
}

// One message per step, so that a stop waits for a single attempt.
std::int64_t Notifications::step() {
  const store::ReadersScope readers(store::Readers::notifications);
  const auto round = flows::send_due_notifications(context_, 1);
  if (!round)
    return kNotificationLookAgainMs;  // overloaded or disk full: notifications wait in their rows
  if (round->attempts > 0) return 0;
  if (!round->next_due) return WorkerThread::kWhenWoken;
  return std::max<std::int64_t>(0, round->next_due->ms - context_.queue.now().ms);
}

}  // namespace coffer::workers
