// The thread that sends messages to receivers of payments. One message at a time: what the
// operator's sendmail or gateway takes for one holds up the others, and nothing else.
#pragma once

#include "base/worker_thread.h"
#include "flows/context.h"

namespace coffer::workers {

class Notifications {
 public:
  /// `context` outlives this.
  explicit Notifications(const flows::Context& context);

  void start() { worker_.start(); }
  /// A commit has left a message. From any thread.
  void wake() { worker_.wake(); }
  /// Returns when the attempt in progress has ended and is recorded.
  void stop() { worker_.stop(); }

  /// Without the thread: everything that is due now, on this thread; how many rows were looked
  /// after. For tests under a manual clock, and for nothing that `start` runs beside.
  int run_due();

 private:
  std::int64_t step();

  const flows::Context& context_;
  WorkerThread worker_;
};

}  // namespace coffer::workers
