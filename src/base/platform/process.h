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

/// Whether a process with this number exists. It may be another one than when the number was noted.
bool process_exists(int process);

/// Returns the free memory of all heaps to the system, after work that needed much more than usual.
/// Thread-safe; takes milliseconds.
void return_free_memory();

/// Whether the system gives this process memory for another heap and more. Threads and stacks that
/// only speed up the work leave it to the rest. Thread-safe; takes microseconds.
bool has_spare_memory();

/// The signals that the main thread of a server waits for: SIGTERM and SIGINT (stop), and SIGHUP
/// (reload). Construct it before any other thread starts, so that all threads inherit the blocked
/// signals.
class StopSignals {
 public:
  StopSignals();
  ~StopSignals();  // restores the signal mask
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;

  enum class Kind { stop, reload };
  Kind wait() const;
  /// Whether a signal to stop has arrived, which wait() will return.
  bool is_stopping() const;
  /// From now on, SIGTERM and SIGINT end the process immediately.
  void end_at_once() const;

 private:
  sigset_t before_;
};

}  // namespace coffer
