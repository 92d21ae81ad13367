// Copies the write-ahead log into the database file, and keeps the log short.
//
// SQLite reuses the log from its beginning once everything in it is copied and no reader still uses
// it. Both need a moment: a reader that began earlier blocks the copy, and readers that overlap
// without a gap leave no moment at all. So attempts are counted by frames, not by commits, and when
// the log has grown past a bound, new readers wait a few milliseconds until the present ones ended.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include "base/clock.h"
#include "store/file/changed_pages.h"

namespace coffer {
class Counter;
class Histogram;
class Metrics;  // base/telemetry/metrics.h
}  // namespace coffer

namespace coffer::store {

class Connection;
class ReaderPools;

struct CheckpointStats {
  std::uint64_t complete = 0;
  std::uint64_t partial = 0;  // a reader was in the way
  std::uint64_t pauses = 0;   // of new readers
  std::uint64_t frames = 0;   // in the log, as of the last commit
};

/// Of the writer's thread, but for stats().
class Checkpointer {
 public:
  /// All outlive this; `log` is the path of the write-ahead log, `metrics` may be nullptr.
  Checkpointer(Connection& writer, ReaderPools& readers, std::string log, Metrics* metrics);
  ~Checkpointer();
  Checkpointer(const Checkpointer&) = delete;
  Checkpointer& operator=(const Checkpointer&) = delete;

  /// Between two transactions. Does nothing until the log has grown enough. Throws SqlError when
  /// the storage is uncertain.
  void run_when_due();
  CheckpointStats stats() const;
  /// Any thread.
  ChangedPages& changed_pages() { return changed_pages_; }

 private:
  void note_frames(int frames);
  void checkpoint();
  void pause_readers();
  void open_gate();

  Connection& writer_;
  ReaderPools& readers_;
  ChangedPages changed_pages_;
  Counter* completed_ = nullptr;  // none of the four without `metrics`
  Counter* blocked_ = nullptr;
  Counter* paused_ = nullptr;
  Histogram* times_ = nullptr;
  int frames_ = 0;    // in the log
  int try_at_ = 0;    // frames at which the next checkpoint is due
  int pause_at_ = 0;  // frames at which new readers are to wait
  std::int64_t pause_ms_ = 0;
  std::int64_t gate_until_ms_ = 0;  // monotonic; 0: open
  std::atomic<std::uint64_t> complete_{0};
  std::atomic<std::uint64_t> partial_{0};
  std::atomic<std::uint64_t> pauses_{0};
  std::atomic<std::uint64_t> log_frames_{0};
};

}  // namespace coffer::store
