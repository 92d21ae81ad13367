// Keep-alive messages for the supervisor (systemd's WatchdogSec). If they stop, it restarts the
// process.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "base/telemetry/worker_thread.h"

namespace coffer {

/// The interval within which the supervisor expects a message; nullopt if it does not expect any.
std::optional<std::int64_t> watchdog_ms();

class Watchdog {
 public:
  /// A separate thread calls `alive` from start to stop; it must return immediately. While it
  /// returns false, no message is sent. Does nothing without a supervisor.
  explicit Watchdog(std::function<bool()> alive);
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

  void start();
  void stop();
  /// One step of the thread; returns the milliseconds until the next.
  std::int64_t step();

 private:
  const std::optional<std::int64_t> within_ms_;
  const std::function<bool()> alive_;
  WorkerThread thread_;
};

}  // namespace coffer
