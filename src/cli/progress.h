// How far long work is, for the person who waits at a terminal.
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

/// One line on standard error, drawn again at most ten times a second and cleared in the end;
/// nothing where standard error is no terminal. Also the way out: show() throws Stopped when the
/// server stops or the command that asked for the work is gone. While it lives, only it writes to
/// `console.err`.
class ProgressLine {
 public:
  struct Stopped {
    const char* why;  // a sentence
  };
  static constexpr const char* kServerStops =
      "The server is stopping. Repeat the command when it runs again.";
  static constexpr const char* kOutputFails = "The output could not be written.";

  /// A thread of its own draws the line every second, so that the time moves on during a long step.
  ProgressLine(const Console& console, Interruption& interruption);
  /// Without that thread: only show() draws.
  ProgressLine(const Console& console, Interruption& interruption, const Clock& clock)
      : console_(console), interruption_(interruption), clock_(clock) {}
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  /// One thread at a time.
  void show(const Progress& progress);
  /// show() for code that takes a function; not longer than this line.
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

/// The line: what is done, how much of how much, and once that can be told the rate and the time
/// left. `elapsed_ms` since the phase began.
std::string progress_text(const Progress& progress, std::int64_t elapsed_ms);

/// Runs `work`, which returns a Result and shows its progress; Stopped becomes `overloaded`.
template <class F>
auto unless_stopped(F&& work) -> decltype(work()) {
  try {
    return work();
  } catch (const ProgressLine::Stopped& stopped) {
    return unexpected(Slug::overloaded, stopped.why);
  }
}

}  // namespace coffer::cli
