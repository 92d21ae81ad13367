// How far long work is, for whoever waits at a terminal.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "cli/command.h"

namespace coffer::cli {

/// One line that is drawn again and again, and wiped in the end. Also the way out: it throws
/// Stopped when the server stops or nobody waits any more.
class ProgressLine {
 public:
  struct Stopped {};

  ProgressLine(const Console& console, Interruption& interruption)
      : console_(console), interruption_(interruption) {}
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  void show(std::string_view what, std::int64_t done, std::int64_t total);
  /// show() for who is handed a function; not longer than this line.
  auto shower() {
    return [this](std::string_view what, std::int64_t done, std::int64_t total) {
      show(what, done, total);
    };
  }

 private:
  const Console& console_;
  Interruption& interruption_;
  std::string shown_;
};

/// Runs `work`, which answers with a Result and shows its progress; Stopped becomes `overloaded`.
template <class F>
auto unless_stopped(F&& work) -> decltype(work()) {
  try {
    return work();
  } catch (const ProgressLine::Stopped&) {
    return unexpected(Slug::overloaded, "The server is stopping; ask again when it is back.");
  }
}

}  // namespace coffer::cli
