// The generic thread around a worker: runs its step when due, when woken, and again after a fault.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "base/mutex.h"
#include "base/thread.h"

namespace coffer {

/// `step` is called on one thread, never twice at once. It returns the milliseconds until it next
/// wants to run: 0 is at once, kWhenWoken (any negative) is not before `wake()`.
///
/// An exception from `step` (InternalError included) is logged in full, and `step` runs again after
/// `backoff_ms`: a worker never dies. `stop()` cuts every wait short, but not a running step.
class WorkerThread {
 public:
  static constexpr std::int64_t kWhenWoken = -1;
  static constexpr std::int64_t kBackoffMs = 1'000;

  WorkerThread(std::string name, std::function<std::int64_t()> step,
               std::int64_t backoff_ms = kBackoffMs);
  ~WorkerThread();  // stops
  WorkerThread(const WorkerThread&) = delete;
  WorkerThread& operator=(const WorkerThread&) = delete;

  /// Runs the first step at once. Once only: a stopped worker is not started again.
  void start();
  /// Makes `step` run as soon as the present one is over. From any thread, also from inside `step`,
  /// before `start()` and after `stop()`. Wake-ups that arrive before the next step are one; a
  /// wake-up during a step is not lost: another step follows. Does not cut a backoff short.
  void wake();
  /// Returns when the step that runs, if any, has ended. Idempotent. Not from inside `step`.
  void stop();

 private:
  void run();
  bool begin_step();
  void wait(std::int64_t ms, bool until_woken);

  const std::string name_;
  const std::function<std::int64_t()> step_;
  const std::int64_t backoff_ms_;
  bool started_ = false;
  Thread thread_;
  Mutex mutex_;
  Condition changed_;
  bool woken_ COFFER_GUARDED_BY(mutex_) = false;
  bool stopping_ COFFER_GUARDED_BY(mutex_) = false;
};

}  // namespace coffer
