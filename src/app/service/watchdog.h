// Signs of life for the supervisor (systemd's WatchdogSec): as long as they come, it leaves the
// process alone; when they stop, it ends and restarts it.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "base/worker_thread.h"

namespace coffer {

/// The time within which the supervisor wants to hear from this process; nullopt: it does not.
std::optional<std::int64_t> watchdog_ms();

class Watchdog {
 public:
  /// `alive` is asked on a thread of its own, from start to stop, and answers at once; while it
  /// says no, nothing is sent. Does nothing where no supervisor waits.
  explicit Watchdog(std::function<bool()> alive);
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

  void start();
  void stop();
  /// What the thread does; the milliseconds until it is to be done again.
  std::int64_t step();

 private:
  const std::optional<std::int64_t> within_ms_;
  const std::function<bool()> alive_;
  WorkerThread thread_;
};

}  // namespace coffer
