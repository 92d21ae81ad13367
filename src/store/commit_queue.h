// The only way to change the database: a bounded queue in front of one writer thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "base/clock.h"
#include "base/mutex.h"
#include "base/result.h"
#include "base/thread.h"
#include "store/database.h"
#include "store/file/checkpointer.h"
#include "store/write_tx.h"

namespace coffer {
class Histogram;
class LogScope;
class Metrics;  // base/telemetry/metrics.h
class Stopwatch;
}  // namespace coffer

namespace coffer::store {

struct CommitQueueOptions {
  std::size_t queue_max = 1'024;                  // waiting commands; beyond: `overloaded`
  std::size_t batch_max = 256;                    // commands in one commit
  std::uint64_t disk_floor_bytes = 256ULL << 20;  // less free space: no writes, `storage-full`
  Metrics* metrics = nullptr;                     // outlives the queue
  QuotaDefaults quotas = {};
};

struct CommitStats {
  std::uint64_t commands = 0;
  std::uint64_t commits = 0;
  std::size_t queued = 0;
  std::int64_t last_commit_ms = 0;  // monotonic time of the last good commit
  std::int64_t busy_since_ms = 0;   // monotonic time since when the running batch runs; 0: none
  bool storage_full = false;
  std::int64_t clock_behind_ms = 0;  // the machine's clock, behind the time of the records
};

class CommitQueue {
 public:
  /// Returns a Problem (nothing of the command stays) or nothing (it is committed).
  using Command = std::function<Result<void>(WriteTx&)>;
  enum class Mode {
    commit,
    dry_run,     // everything is undone, and only the verdict returns
    repeatable,  // as commit; may run a second time, after what its first run did was undone
  };

  /// `database` must outlive the queue. `on_signal` is called on the writer thread after a commit
  /// with the signals of its commands; it must not block.
  CommitQueue(Database& database, const Clock& clock, CommitQueueOptions options,
              std::function<void(Signal)> on_signal);
  ~CommitQueue();  // stops
  CommitQueue(const CommitQueue&) = delete;
  CommitQueue& operator=(const CommitQueue&) = delete;

  /// Runs `command` on the writer thread and returns when the COMMIT that holds it is on disk, or
  /// with its Problem. The command sees only its WriteTx and what it captured by reference from the
  /// waiting caller. A repeatable command costs less: it needs no savepoint as long as no command
  /// beside it fails after it has written.
  /// `overloaded` when the queue is full or stopping, `storage-full` when the disk is.
  Result<void> run(const Command& command, Mode mode = Mode::commit);

  /// The time of the records: the machine's clock, unless that one is behind what the file already
  /// holds, or was set back; it then goes on from there with the monotonic time. Rows dated by
  /// commands are compared with this.
  const Clock& clock() const { return clock_; }
  Timestamp now() const { return clock_.now(); }
  /// Logs once when the machine's clock has fallen behind the records, and once when that has
  /// ended. Call it now and then, from one thread.
  void watch_clock();

  /// Ends when everything queued is done; later calls of run() are refused.
  void stop();
  CommitStats stats() const;
  CheckpointStats checkpoints() const { return checkpointer_.stats(); }
  /// For a copy that follows the commits.
  ChangedPages& changed_pages() { return checkpointer_.changed_pages(); }
  const QuotaDefaults& quota_defaults() const { return options_.quotas; }
  /// Makes one small durable commit: proof that writing works, when nothing else was written
  /// lately.
  Result<void> probe();

 private:
  struct Waiter;
  struct Batch;
  void write_loop();
  void write_batch(Batch& batch);
  void run_all(Batch& batch);
  void run_group(std::span<Waiter* const> waiters, bool alone);
  bool run_bare(std::span<Waiter* const> waiters);
  void run_one(Waiter& waiter);
  void begin_command();
  void run_command(Waiter& waiter);
  void take_back_memory();
  void forget_batch();
  void forget_rows();
  bool commit(Batch& batch);
  void fail_batch(Batch& batch, const Problem& problem);
  void finish(Batch& batch);
  void store_time(const Batch& batch);
  bool disk_is_full();
  void note_full(bool full);
  void note_commit(const Batch& batch, const Stopwatch& watch);
  [[noreturn]] void fail_stop(const char* where, const std::string& what, int code);

  Database& database_;
  ForwardClock clock_;
  const CommitQueueOptions options_;
  const std::function<void(Signal)> on_signal_;
  Counter* failed_commits_ = nullptr;  // none of the three without `metrics`
  Histogram* batch_sizes_ = nullptr;
  Histogram* commit_times_ = nullptr;
  WriteTx tx_;  // writer thread only
  Checkpointer checkpointer_;
  std::int64_t disk_checked_ms_ = -1;
  std::int64_t time_stored_ms_ = 0;  // 0: not by this process, or taken back
  bool clock_behind_ = false;        // as watch_clock last logged it

  mutable Mutex mutex_;
  Condition arrived_;
  std::deque<Waiter*> waiting_ COFFER_GUARDED_BY(mutex_);
  bool stopping_ COFFER_GUARDED_BY(mutex_) = false;

  std::atomic<std::uint64_t> commands_{0};
  std::atomic<std::uint64_t> commits_{0};
  std::atomic<std::int64_t> last_commit_ms_{0};
  std::atomic<std::int64_t> busy_since_ms_{0};
  std::atomic<bool> storage_full_{false};
  Thread thread_;  // last: starts when everything above is there
};

/// As run(), for commands that produce a value.
template <class T, class F>
Result<T> run_for(CommitQueue& queue, F&& command,
                  CommitQueue::Mode mode = CommitQueue::Mode::commit) {
  std::optional<T> out;
  COFFER_TRY_VOID(queue.run(
      [&](WriteTx& tx) -> Result<void> {
        Result<T> result = command(tx);
        if (!result) return unexpected(std::move(result).error());
        out.emplace(*std::move(result));
        return {};
      },
      mode));
  return *std::move(out);
}

}  // namespace coffer::store
