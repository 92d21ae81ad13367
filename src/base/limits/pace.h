// Rest periods of background work, so that payments get the processors and the disk.
#pragma once

#include <cstdint>

#include "base/telemetry/metrics.h"

namespace coffer {

/// For one thread.
class Pace {
 public:
  Pace();
  /// Milliseconds to rest for the work since the last rest, or since construction. Less than one
  /// millisecond returns 0 and is added to the next call.
  std::int64_t rest_ms();
  /// Rests for this time.
  void rest();

  /// Three times the processor time, so that the work uses a quarter of one processor, and at least
  /// the elapsed time, because disk access delays other work too.
  static std::int64_t rest_us(std::int64_t elapsed_us, std::int64_t cpu_us);

 private:
  Stopwatch watch_;
  std::int64_t cpu_us_;
};

}  // namespace coffer
