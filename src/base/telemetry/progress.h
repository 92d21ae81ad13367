// Progress of a long operation.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

namespace coffer {

struct Progress {
  enum class Unit { steps, rows, bytes };

  std::string_view what;  // the current step, such as `copying`; valid during the call
  std::int64_t done = 0;
  std::int64_t total = 0;  // 0: unknown
  Unit unit = Unit::rows;
};

/// Called at intervals on the working thread. It may throw to stop the work, which then leaves
/// nothing behind.
using ProgressFunction = std::function<void(const Progress&)>;

}  // namespace coffer
