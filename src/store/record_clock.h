// The time of the records: where it continues after a restart, and how a sandbox advances it.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/clock.h"
#include "store/file/connection.h"

namespace coffer::store {

/// Follows the machine's clock, unless that clock is behind the newest time in the file or is set
/// back. In this case it continues from the newest time with the monotonic clock. Thread-safe.
class RecordClock {
 public:
  /// Both must outlive this object. Reads the newest time with `writer`.
  RecordClock(const Clock& machine, Connection& writer);

  const Clock& clock() const { return clock_; }
  Timestamp now() const { return clock_.now(); }
  std::int64_t monotonic_ms() const { return clock_.monotonic_ms(); }
  /// By advance(), also before a restart; not part of behind_ms().
  std::int64_t advanced_ms() const { return advanced_ms_; }
  /// How far the machine's clock is behind. Differences under one second count as 0.
  std::int64_t behind_ms() const;
  /// Logs when the machine's clock falls behind, and when it has caught up. For one thread.
  void watch();
  /// Call it after store_advance() is on disk.
  void advance(std::int64_t ms);

  /// Writes the time of the last commit, because a restart needs it exactly.
  static void store(Connection& writer, Timestamp now);
  static void store_advance(Connection& writer, std::int64_t ms);

 private:
  ForwardClock clock_;
  bool was_behind_ = false;  // the state that watch() last logged
  std::atomic<std::int64_t> advanced_ms_;
};

}  // namespace coffer::store
