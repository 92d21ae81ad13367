// The process as a whole: its setup, and the signals that stop or reload a server.
#pragma once

namespace coffer {

/// Called by main before anything else.
void set_up_process();

/// SIGTERM and SIGINT to stop, SIGHUP to reload, taken by the main thread of a server. Made before
/// any other thread, so that all of them inherit what is blocked.
class StopSignals {
 public:
  StopSignals();
  ~StopSignals();  // gives the signals their usual meaning back
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;

  enum class Kind { stop, reload };
  Kind wait() const;
  /// From now on a signal to stop ends the process at once.
  void end_at_once() const;
};

/// Stops this process in the way in which SIGTERM does.
void request_stop();

}  // namespace coffer
