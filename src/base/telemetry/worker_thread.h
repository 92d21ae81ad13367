// A generic thread around a worker. It runs the worker's step when due, when woken, and again after
// an exception.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "base/mutex.h"
#include "base/thread.h"

namespace coffer {

/// `step` runs on one thread, never concurrently. It returns the milliseconds until its next run: 0
/// means immediately, kWhenWoken (any negative value) means not before `wake()`.
///
/// An exception from `step` (including InternalError) is logged in full, and `step` runs again
/// after `backoff_ms`, so a worker never ends because of an exception. `stop()` interrupts every
/// wait, but not a running step.
class WorkerThread {
 public:
  static constexpr std::int64_t kWhenWoken = -1;
  static constexpr std::int64_t kBackoffMs = 1'000;

  WorkerThread(std::string name, std::function<std::int64_t()> step,
               std::int64_t backoff_ms = kBackoffMs);
  ~WorkerThread();  // stops
  WorkerThread(const WorkerThread&) = delete;
  WorkerThread& operator=(const WorkerThread&) = delete;

  /// Starts the thread with an immediate first step. Call it once; a stopped worker cannot be
  /// restarted.
  void start();
  /// Runs `step` as soon as the present step is over. May be called from any thread, also from
  /// `step`, before `start()` and after `stop()`. Several wake-ups before the next step count as
  /// one. A wake-up during a step leads to another step. Does not shorten a backoff.
  void wake();
  /// Stops the thread. Returns when the running step, if any, has ended. Idempotent. Do not call it
  /// from `step`.
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
