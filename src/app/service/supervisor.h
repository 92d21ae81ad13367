// What coffer tells systemd and receives from it: messages (sd_notify), keep-alives (WatchdogSec),
// and the listening socket that systemd keeps for this service while a server is replaced (its file
// descriptor store): connections wait in it instead of being refused. Stopping the service closes
// it.
#pragma once

#include "base/telemetry/worker_thread.h"
#include "config/config.h"

namespace coffer {

/// Sends `state`, such as `READY=1`, to $NOTIFY_SOCKET, if it is set, with a copy of the descriptor
/// `fd`, if it is not -1. Send errors are ignored.
void notify_supervisor(std::string_view state, int fd = -1);

/// Returns when the supervisor has processed all earlier messages, or after 5 s.
void wait_for_supervisor();

/// The descriptor of the kept socket if it listens on exactly this address; otherwise -1.
int kept_socket(const HostPort& wanted);

/// If the kept sockets do not listen on this address, because the settings were changed: closes
/// them, here and in the supervisor, so that connections to it are refused. Call it
/// once, before the process opens other descriptors.
void release_other_sockets(const HostPort& wanted);

/// Gives the supervisor a copy of the listening socket for the next server.
void keep_socket(int fd);

/// The interval within which the supervisor expects a message; nullopt if it does not expect any.
std::optional<std::int64_t> watchdog_ms();

/// Keep-alive messages. If they stop, the supervisor restarts the process.
class Watchdog {
 public:
  /// A separate thread calls `alive` from start to stop; it must return immediately. While it
  /// returns false, no message is sent. Does nothing without a supervisor.
  explicit Watchdog(std::function<bool()> alive);
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

  void start() {
    if (within_ms_) thread_.start();
  }
  void stop() { thread_.stop(); }
  /// One step of the thread; returns the milliseconds until the next.
  std::int64_t step();

 private:
  const std::optional<std::int64_t> within_ms_;
  const std::function<bool()> alive_;
  WorkerThread thread_;
};

}  // namespace coffer
