// The thread that sends notifications to receivers of payments, one at a time. A slow sendmail or
// gateway delays only other notifications.
#pragma once

#include "base/worker_thread.h"
#include "flows/context.h"

namespace coffer::workers {

class Notifications {
 public:
  /// `context` must outlive this object.
  explicit Notifications(const flows::Context& context);

  void start() { worker_.start(); }
  /// Call after a commit with a notification. Thread-safe.
  void wake() { worker_.wake(); }
  /// Returns when the attempt in progress has ended and is recorded.
  void stop() { worker_.stop(); }

  /// Sends everything that is due now on the calling thread and returns the number of processed
  /// rows. For tests with a manual clock; not together with `start`.
  int run_due();

 private:
  std::int64_t step();

  const flows::Context& context_;
  WorkerThread worker_;
};

}  // namespace coffer::workers
