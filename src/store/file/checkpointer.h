// Copies the write-ahead log into the database file, and limits the size of the log.
//
// SQLite restarts the log when all of it is copied and no reader uses it any more. An older reader
// blocks the copy, and readers that overlap without a gap prevent the restart. Attempts are
// therefore scheduled by the number of frames, not of commits. If the log exceeds a bound, new
// readers wait a few milliseconds until the present ones have ended.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

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
  std::uint64_t partial = 0;  // incomplete because of a reader
  std::uint64_t pauses = 0;   // pauses of new readers
  std::uint64_t frames = 0;   // in the log after the last commit
};

/// For the writer's thread, except stats().
class Checkpointer {
 public:
  /// All arguments must outlive this object. `metrics` may be nullptr.
  Checkpointer(Connection& writer, ReaderPools& readers, Metrics* metrics);
  ~Checkpointer();
  Checkpointer(const Checkpointer&) = delete;
  Checkpointer& operator=(const Checkpointer&) = delete;

  /// Call after a transaction with the number of its commands. Does nothing until the log has grown
  /// enough; with few commands, it may grow larger. Throws SqlError if the storage is uncertain.
  void run_when_due(std::size_t commands);
  CheckpointStats stats() const;

 private:
  void note_frames(int frames);
  void checkpoint();
  void pause_readers();
  void open_gate();

  Connection& writer_;
  ReaderPools& readers_;
  Counter* completed_ = nullptr;  // this member and the next three: null without `metrics`
  Counter* blocked_ = nullptr;
  Counter* paused_ = nullptr;
  Histogram* times_ = nullptr;
  int frames_ = 0;    // in the log
  int try_at_ = 0;    // number of frames at which the next checkpoint is due
  int pause_at_ = 0;  // number of frames at which new readers must wait
  std::int64_t pause_ms_ = 0;
  std::int64_t gate_until_ms_ = 0;  // monotonic; 0: open
  std::atomic<std::uint64_t> complete_{0};
  std::atomic<std::uint64_t> partial_{0};
  std::atomic<std::uint64_t> pauses_{0};
  std::atomic<std::uint64_t> log_frames_{0};
};

}  // namespace coffer::store
