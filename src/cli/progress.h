// Shows the progress of long operations on a terminal.
#pragma once

#include <cstdint>
#include <string>

#include "base/clock.h"
#include "base/mutex.h"
#include "base/result.h"
#include "base/telemetry/progress.h"
#include "base/thread.h"
#include "cli/command.h"

namespace coffer::cli {

/// A line on standard error, redrawn at most ten times per second and cleared at the end. Prints
/// nothing if standard error is not a terminal. It also ends the work: show() throws Stopped if the
/// server stops or the requesting client is gone. While a ProgressLine exists, nothing else may
/// write to `console.err`.
class ProgressLine {
 public:
  struct Stopped {
    const char* why;  // a sentence
  };
  static constexpr const char* kServerStops =
      "The server is stopping. Repeat the command when the server runs again.";
  static constexpr const char* kOutputFails = "The output could not be written.";

  /// Starts a thread that redraws the line every second, so that the time advances during a long
  /// step.
  ProgressLine(const Console& console, Interruption& interruption);
  /// Starts no thread: only show() draws.
  ProgressLine(const Console& console, Interruption& interruption, const Clock& clock)
      : console_(console), interruption_(interruption), clock_(clock) {}
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  /// For one thread at a time.
  void show(const Progress& progress);
  /// show() as a function object. Must not outlive this line.
  ProgressFunction shower() {
    return [this](const Progress& progress) { show(progress); };
  }

 private:
  void redraw();
  void draw() COFFER_REQUIRES(mutex_);

  const Console& console_;
  Interruption& interruption_;
  const Clock& clock_;
  Mutex mutex_;
  Condition ended_;
  bool over_ COFFER_GUARDED_BY(mutex_) = false;
  std::string what_ COFFER_GUARDED_BY(mutex_);
  Progress last_ COFFER_GUARDED_BY(mutex_);  // without `what`
  std::int64_t began_ms_ COFFER_GUARDED_BY(mutex_) = 0;
  std::int64_t drawn_ms_ COFFER_GUARDED_BY(mutex_) = 0;
  bool drawn_ COFFER_GUARDED_BY(mutex_) = false;
  Thread redrawing_;
};

/// The text of the line: the current step, the amount done, and the rate and remaining time once
/// known. `elapsed_ms` is the time since the start of the step.
std::string progress_text(const Progress& progress, std::int64_t elapsed_ms);

/// Runs `work`, which returns a Result and shows progress. Converts Stopped to `overloaded`. The
/// dispatcher wraps whole commands in it.
template <class F>
auto unless_stopped(F&& work) -> decltype(work()) {
  try {
    return work();
  } catch (const ProgressLine::Stopped& stopped) {
    return unexpected(Slug::overloaded, stopped.why);
  }
}

}  // namespace coffer::cli
