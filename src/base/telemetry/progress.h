// How far a long operation is.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

namespace coffer {

struct Progress {
  enum class Unit { steps, rows, bytes };

  std::string_view what;  // is done now: `copying`; valid during the call
  std::int64_t done = 0;
  std::int64_t total = 0;  // 0: not known
  Unit unit = Unit::rows;
};

/// Called now and then, on the thread that works. May throw to stop the work, which then leaves
/// nothing behind.
using ProgressFunction = std::function<void(const Progress&)>;

}  // namespace coffer
