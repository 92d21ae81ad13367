// The only way to change the database: a bounded queue in front of a single writer thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "base/mutex.h"
#include "base/result.h"
#include "base/thread.h"
#include "store/commits/write_tx.h"
#include "store/database.h"
#include "store/file/chain_keys.h"
#include "store/record_clock.h"

namespace coffer {
class Metrics;  // base/telemetry/metrics.h
}  // namespace coffer

namespace coffer::store {

struct CheckpointStats;  // store/file/checkpointer.h

struct CommitQueueOptions {
  std::size_t queue_max = 1'024;  // waiting commands; beyond: `overloaded`
  std::size_t batch_max = 256;    // commands in one commit
  std::int64_t patience_ms = 2;   // how long a background command waits for others
  // with less free space, writes return `storage-full`
  std::uint64_t disk_floor_bytes = 256ULL << 20;
  Metrics* metrics = nullptr;  // outlives the queue
  QuotaDefaults quotas = {};
  std::function<Problem()> rejects = {};  // every command; for a file that another machine changes
};

struct CommitStats {
  std::uint64_t commands = 0;
  std::uint64_t commits = 0;
  std::size_t queued = 0;
  std::int64_t last_commit_ms = 0;  // monotonic time of the last successful commit
  std::int64_t busy_since_ms = 0;   // monotonic start of the running batch; 0: no batch is running
  bool storage_full = false;
  // how far the machine's clock is behind the time of the records
  std::int64_t clock_behind_ms = 0;
  std::int64_t clock_advanced_ms = 0;  // by advance_clock(); not part of clock_behind_ms
};

class CommitQueue {
 public:
  /// Returns a Problem (all changes of the command are undone) or success (they are committed).
  using Command = std::function<Result<void>(WriteTx&)>;
  enum class Mode {
    commit,
    dry_run,  // undoes all changes and returns only the result
    // Like commit, at a lower cost. The command may run again after its changes were undone, and
    // must not change a wallet, trustline or asset (WriteTx::known).
    repeatable,
    // Like repeatable, for work that no client waits for. If nothing else is waiting, it waits
    // `patience_ms` for another command, so that its commit does not delay the next client. It
    // runs after the other commands of its batch.
    background,
    // Like commit, also while the disk has less free space than the floor, for the few bytes of an
    // audit entry: the command that it records may only read, or write to another disk.
    beyond_floor,
  };

  /// `database` must outlive the queue. `on_signal` is called on the writer thread after a commit,
  /// with the signals of its commands. It must not block.
  CommitQueue(Database& database, const Clock& clock, CommitQueueOptions options,
              std::function<void(Signal)> on_signal);
  ~CommitQueue();  // stops
  CommitQueue(const CommitQueue&) = delete;
  CommitQueue& operator=(const CommitQueue&) = delete;

  /// Runs `command` on the writer thread. Returns when the COMMIT that contains it is on disk, or
  /// with its Problem. The command may use only its WriteTx and what it captured by reference from
  /// the waiting caller. `overloaded` if the queue is full or stopping; `storage-full` if the disk
  /// is full. On a full disk, a dry run and a command that changes no row have their usual result.
  Result<void> run(const Command& command, Mode mode = Mode::commit);

  /// Gives the writer the keys of its file. Every command that writes rows proved by them needs
  /// them.
  void use_keys(std::unique_ptr<const ChainKeys> keys);

  /// For all later batches. Thread-safe.
  void set_balances(BalanceState state);

  /// The time of the records. Compare the times of rows with this clock.
  const Clock& clock() const { return clock_.clock(); }
  Timestamp now() const { return clock_.now(); }
  /// RecordClock::watch(). Call it regularly from one thread.
  void watch_clock() { clock_.watch(); }

  /// Moves the time of the records forward, for a sandbox, and then wakes all workers. The file
  /// keeps the sum, so after a restart the records are as far ahead of the machine's clock.
  Result<void> advance_clock(std::int64_t ms);

  /// For `ms` milliseconds from now, batches still wait for another program that holds the
  /// database, until one has waited for kBusyWaitMs without a result. Later batches fail
  /// immediately with `overloaded`, so that a stop ends in time. Thread-safe.
  void end_waits_after(std::int64_t ms);

  /// Calls `work` once with the writer's connection, between two batches and outside a transaction,
  /// and returns when it has ended. Payments wait meanwhile. `work` must not throw or write to the
  /// database. When the queue has stopped, `work` runs on the calling thread.
  void between_batches(const std::function<void(Connection&)>& work);

  /// Returns when all queued commands are done. Later calls of run() are rejected.
  void stop();
  CommitStats stats() const;
  CheckpointStats checkpoints() const;
  const QuotaDefaults& quota_defaults() const { return options_.quotas; }
  /// Makes one small durable commit, to prove that writing works.
  Result<void> probe();

 private:
  struct Waiter;
  struct Between;
  struct Memory;
  class Writer;
  void write_loop();
  void take_batch(std::vector<Waiter*>& batch) COFFER_REQUIRES(mutex_);

  const CommitQueueOptions options_;
  RecordClock clock_;
  const std::unique_ptr<Writer> writer_;

  mutable Mutex mutex_;
  Condition arrived_;
  std::deque<Waiter*> waiting_ COFFER_GUARDED_BY(mutex_);
  std::deque<Between*> between_ COFFER_GUARDED_BY(mutex_);
  bool stopping_ COFFER_GUARDED_BY(mutex_) = false;
  bool stopped_ COFFER_GUARDED_BY(mutex_) = false;  // the writer's thread takes no more work
  std::unique_ptr<const ChainKeys> new_keys_ COFFER_GUARDED_BY(mutex_);  // not yet the writer's
  std::atomic<std::int64_t> busy_since_ms_{0};
  Thread thread_;  // last member: starts when all others are initialised
};

/// Like run(), for commands that return a value.
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
