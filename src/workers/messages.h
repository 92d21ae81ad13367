// The thread that checks conditions for alerts and sends all messages, one at a time and those
// about alerts first. A slow target delays only other messages.
#pragma once

#include <cstdint>
#include <functional>

#include "base/telemetry/worker_thread.h"
#include "domain/operations/condition.h"
#include "flows/context.h"

namespace coffer::workers {

class Messages {
 public:
  /// `look` returns the current figures. All arguments must outlive this object.
  Messages(const flows::Context& context, std::function<Result<ConditionFacts>()> look);

  void start() { worker_.start(); }
  /// Call after a commit with a notification. Thread-safe.
  void wake() { worker_.wake(); }
  /// Returns when the attempt in progress has ended and is recorded.
  void stop() { worker_.stop(); }

  /// Checks the conditions once and sends everything that is due now on the calling thread; returns
  /// the number of processed messages. For tests with a manual clock; not together with `start`.
  int run_due();

 private:
  std::int64_t step();
  void look();

  const flows::Context& context_;
  const std::function<Result<ConditionFacts>()> look_;
  std::int64_t look_again_ms_ = 0;  // on the machine's monotonic clock
  WorkerThread worker_;
};

}  // namespace coffer::workers
