// The process as a whole: its setup, its environment, and the signals that stop or reload a server.
#pragma once

#include <signal.h>

#include <string>
#include <string_view>
#include <vector>

namespace coffer {

/// The names of the environment variables that begin with `prefix`, in alphabetical order.
std::vector<std::string> variables_with_prefix(std::string_view prefix);

/// Called by main before anything else.
void set_up_process();

/// SIGTERM and SIGINT to stop, SIGHUP to reload, request_restart(), taken by the main thread of a
/// server. Made before any other thread, so that all of them inherit what is blocked.
class StopSignals {
 public:
  StopSignals();
  ~StopSignals();  // restores what the signals did before
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;

  enum class Kind { stop, reload, restart };
  Kind wait() const;
  /// From now on a signal to stop ends the process at once.
  void end_at_once() const;

 private:
  sigset_t before_;
};

/// Makes StopSignals::wait() in this process return `restart`.
void request_restart();

}  // namespace coffer
