#include "app/service/watchdog.h"

#include <unistd.h>

#include <algorithm>
#include <string>
#include <utility>

#include "app/service/notify.h"
#include "base/environment.h"
#include "base/telemetry/log.h"
#include "base/text/whole_number.h"

namespace coffer {

std::optional<std::int64_t> watchdog_ms() {
  const auto process = environment_variable("WATCHDOG_PID");
  if (process && *process != std::to_string(::getpid())) return std::nullopt;
  const auto text = environment_variable("WATCHDOG_USEC");
  if (!text) return std::nullopt;
  const auto us = whole_number<std::int64_t>(*text, 1);
  if (!us) return std::nullopt;
  constexpr std::int64_t kUsPerMs = 1'000;
  return std::max<std::int64_t>(*us / kUsPerMs, 1);
}

Watchdog::Watchdog(std::function<bool()> alive)
    : within_ms_(watchdog_ms()),
      alive_(std::move(alive)),
      thread_("watchdog", [this] { return step(); }) {}

void Watchdog::start() {
  if (within_ms_) thread_.start();
}

void Watchdog::stop() { thread_.stop(); }

std::int64_t Watchdog::step() {
  if (!within_ms_) return WorkerThread::kWhenWoken;
  if (alive_()) {
    notify_supervisor("WATCHDOG=1");
  } else {
    log_error("serve", "the writer makes no progress; the watchdog is not notified");
  }
  // At half the interval, as systemd recommends, so that one delayed message is harmless.
  return std::max<std::int64_t>(*within_ms_ / 2, 1);
}

}  // namespace coffer
