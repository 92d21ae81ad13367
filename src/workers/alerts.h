// The thread that checks conditions and sends alerts, one message at a time. A slow target delays
// only other alerts.
#pragma once

#include <cstdint>
#include <functional>

#include "base/worker_thread.h"
#include "flows/context.h"
#include "flows/operations/alerts.h"

namespace coffer::workers {

class Alerts {
 public:
  /// `look` returns the current figures. All arguments must outlive this object.
  Alerts(const flows::Context& context, outbound::AlertSender& sender,
         std::function<Result<ConditionFacts>()> look);

  void start() { worker_.start(); }
  /// Returns when the attempt in progress has ended and is recorded.
  void stop() { worker_.stop(); }

  /// Checks the conditions once and sends all due alerts on the calling thread; returns the number
  /// of attempts. For tests with a manual clock; not together with `start`.
  int run_due();

 private:
  std::int64_t step();
  void look();

  const flows::Context& context_;
  outbound::AlertSender& sender_;
  const std::function<Result<ConditionFacts>()> look_;
  std::int64_t look_again_ms_ = 0;  // on the machine's monotonic clock
  WorkerThread worker_;
};

}  // namespace coffer::workers
