// How long background work rests after each piece of it, so that payments have the machine.
#pragma once

#include <cstdint>

#include "base/telemetry/metrics.h"

namespace coffer {

/// For one thread.
class Pace {
 public:
  Pace();
  /// Milliseconds to rest for the work since the last rest, or since this was made. 0: less than
  /// one, which the next call counts.
  std::int64_t rest_ms();
  /// Rests for so long.
  void rest();

  /// The rule: three times the processor time, so that the work takes a quarter of one processor;
  /// and at least as long as the piece took, because waiting for the disk delays others too.
  static std::int64_t rest_us(std::int64_t elapsed_us, std::int64_t cpu_us);

 private:
  Stopwatch watch_;
  std::int64_t cpu_us_;
};

}  // namespace coffer
