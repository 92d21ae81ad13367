// How a change becomes durable.
//
// Callers submit a command and wait. The writer takes all waiting commands (up to a limit), opens
// one transaction, runs each command, and commits once, with one fsync for all. This group commit
// needs no timer: while one batch is synchronised, the next one collects. A single client never
// waits for others, and many clients share a commit. Only a command that no client waits for is
// held back for a moment, to share the commit of the next one.
//
// There are three kinds of failure:
//
// 1. A command returns a Problem or throws. Only its changes are rolled back; the other commands
//    are not affected. An exception is a bug: it is logged in full, and the caller gets
//    `unexpected-error`.
//
// 2. The disk is full. SQLite returns SQLITE_FULL *before* it writes a commit frame, so the batch
//    is certainly not stored. All callers get `storage-full`, and reads continue. Each later batch
//    first checks the free space, so writing resumes without intervention.
//
// 3. COMMIT fails with an I/O error. The result is unknown: the frames may still reach the disk
//    later. Responding "failed" could turn one payment into two, so coffer sends no response. The
//    process exits immediately (code 70) and the supervisor restarts it. Recovery then decides
//    whether the batch is stored, and the client replays its transactionId to get the result.
//
// Rolling back one command requires a savepoint, and a savepoint copies each page that the command
// changes. Payments decide before they write, so a payment command that fails has almost never
// written anything. Such commands are declared repeatable. A group of them at the start of a batch
// runs without a savepoint, later in the batch with one savepoint for the group. If one of them
// fails after it has written, the group is rolled back and runs again, each command in a savepoint.
//
// Balances and event sequences of the batch are kept in memory (BalanceBook, WriteTx) and written
// just before COMMIT. Entry sets and events are gathered and written together at the end of their
// group, or before a statement that uses their tables (NewRows). A rollback in SQLite rolls all of
// them back as well.
#include "store/commit_queue.h"

#include <sqlite3.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <span>

#include "base/check.h"
#include "base/fault.h"
#include "base/fibers/completion.h"
#include "base/files/side_files.h"
#include "base/platform/exit_code.h"
#include "base/telemetry/log.h"
#include "base/telemetry/log_scope.h"
#include "base/telemetry/metrics.h"
#include "store/commit_rider.h"
#include "store/file/checkpointer.h"
#include "store/file/held_file.h"
#include "store/invariants.h"
#include "store/ledger/known_rows.h"
#include "store/payments/open_payments.h"
#include "store/payments/payment_seal.h"
#include "store/rows/guarded_rows.h"

namespace coffer::store {
namespace {

constexpr const char* kSavepoint = "SAVEPOINT command";
constexpr const char* kRelease = "RELEASE command";
constexpr const char* kRollbackTo = "ROLLBACK TO command";
constexpr const char* kGroup = "SAVEPOINT commands";
constexpr const char* kReleaseGroup = "RELEASE commands";
constexpr const char* kRollbackGroup = "ROLLBACK TO commands";

constexpr std::int64_t kStoreTimeEveryMs = 1'000;
constexpr std::int64_t kDiskCheckEveryMs = 250;

Problem storage_full() {
  return Problem(Slug::storage_full, "The disk is full; nothing was stored.").retry_after(2);
}

Problem not_stored() { return Problem(Slug::unexpected_error, "The change could not be stored."); }

bool is_repeatable(CommitQueue::Mode mode) {
  return mode == CommitQueue::Mode::repeatable || mode == CommitQueue::Mode::background;
}

bool changes_anything(CommitQueue::Mode mode) {
  return mode == CommitQueue::Mode::commit || mode == CommitQueue::Mode::beyond_floor;
}

/// True for a bug of one command (a constraint, a wrong statement). Other errors affect the whole
/// batch.
bool concerns_statement_only(int code) {
  return code == SQLITE_CONSTRAINT || code == SQLITE_ERROR || code == SQLITE_MISMATCH ||
         code == SQLITE_RANGE || code == SQLITE_TOOBIG;
}

[[noreturn]] void fail_stop(const char* where, const std::string& what, int code) {
  log_error("store",
            "the state of the storage is uncertain, so the process exits; restart it to recover",
            {{"where", where}, {"error", what}, {"code", code}});
  ::_exit(exit_code::kUncertain);
}

}  // namespace

/// A command with the caller that waits for it.
struct CommitQueue::Waiter {
  const Command& command;
  Mode mode;
  const LogScope* scope;  // of the waiting caller
  Result<void> result;
  Completion completion;
};

struct CommitQueue::Between {
  const std::function<void(Connection&)>& work;
  Completion completion;
};

/// What the writer's thread keeps in memory between commits, and the transaction of its commands.
struct CommitQueue::Memory {
  Memory(Connection& writer, const QuotaDefaults& quotas)
      : known(writer), tx(writer, known, open_payments, quotas) {}

  void begin_command() {
    tx.begin_command();
    open_payments.begin_command();
  }
  void roll_back_command() {
    tx.roll_back_command();
    open_payments.roll_back_command();
  }
  void forget_rows() {
    tx.forget_rows();
    known.forget();
  }
  void forget_batch() {
    tx.forget_batch();
    known.forget();
  }

  KnownRows known;
  OpenPayments open_payments;
  WriteTx tx;
};

/// Runs a batch of commands and commits it, on the writer's thread.
class CommitQueue::Writer {
 public:
  struct Batch {
    std::vector<Waiter*> waiters;
    bool stored = true;  // false: the disk is full, and the batch is rolled back
  };
  /// All references must outlive this object.
  Writer(Database& database, RecordClock& clock, const CommitQueueOptions& options,
         std::function<void(Signal)> on_signal)
      : database_(database),
        clock_(clock),
        options_(options),
        on_signal_(std::move(on_signal)),
        memory_(*database.writer_, options_.quotas),
        checkpointer_(*database.writer_, *database.readers_, options_.metrics) {
    if (options_.metrics != nullptr) {
      Metrics& metrics = *options_.metrics;
      failed_commits_ = &metrics.counter("coffer_commit_failures_total",
                                         "Batches of commands that were rolled back as a whole.");
      batch_sizes_ = &metrics.histogram("coffer_commit_batch_commands", "Commands in one commit.",
                                        kBatchBuckets);
      commit_times_ = &metrics.histogram(
          "coffer_commit_duration_seconds",
          "From the start of a batch until it is on disk, in seconds.", kWorkBuckets);
    }
    tx_.now_ = clock_.now();
    last_commit_ms = clock_.monotonic_ms();
  }

  /// Runs the commands and completes their waiters. Makes the checkpoint that is due.
  void run(Batch& batch) {
    if (!database_.in_place()) {  // a restart would not find data that is stored now
      return fail(batch, overloaded(kMovedFile));
    }
    if (disk_is_full()) run_unstored(batch);
    if (!batch.waiters.empty()) write(batch);
    try {
      checkpointer_.run_when_due(batch.waiters.size());
    } catch (const SqlError& error) {
      fail_stop("checkpoint", error.what(), error.extended_code);
    }
  }
  Connection& db() { return tx_.db(); }
  CheckpointStats checkpoints() const { return checkpointer_.stats(); }

  // Thread-safe:
  std::atomic<std::uint64_t> commands{0};
  std::atomic<std::uint64_t> commits{0};
  std::atomic<std::int64_t> last_commit_ms{0};
  std::atomic<bool> is_full{false};
  std::atomic<BalanceState> balances{BalanceState::unverified};
  std::atomic<std::int64_t> end_waits_at_ms{0};  // monotonic; 0: not stopping

 private:
  /// Takes from the batch the commands that cannot be stored while the disk is full, and runs them
  /// without storing anything. Those that change nothing, such as the repetition of an accepted
  /// payment, have their usual result.
  void run_unstored(Batch& batch) {
    const auto kept = std::ranges::stable_partition(
        batch.waiters, [](const Waiter* one) { return one->mode != Mode::beyond_floor; });
    Batch unstored{{batch.waiters.begin(), kept.begin()}, false};
    batch.waiters.erase(batch.waiters.begin(), kept.begin());
    if (!unstored.waiters.empty()) write(unstored);
  }

  /// After a stop has begun, limits how long BEGIN waits for another program.
  void limit_wait() {
    const std::int64_t end = end_waits_at_ms;
    if (end == 0) return;
    const std::int64_t left = std::clamp<std::int64_t>(end - clock_.monotonic_ms(), 0, kBusyWaitMs);
    tx_.db().set_busy_wait(static_cast<int>(left));
  }

  void write(Batch& batch) {
    const Stopwatch watch;
    try {
      tx_.now_ = clock_.now();
      tx_.balances_.expect(balances, account_fault);
      limit_wait();
      transaction_.emplace(tx_.db());
      run_all(batch);
      if (!batch.stored) return end_unstored(batch);
      store_time(batch);
      tx_.balances_.flush();
      tx_.quotas_.flush(tx_.now_);
      seal_ledger(tx_);
      write_row_digests(tx_.db());
    } catch (const SqlError& error) {
      if (error.primary_code == SQLITE_FULL) {
        note_full(true);
        return fail(batch, storage_full());
      }
      if (error.primary_code == SQLITE_BUSY) {
        log_error("store", "another program has locked the database", {{"error", error.what()}});
        if (end_waits_at_ms != 0)
          end_waits_at_ms = clock_.monotonic_ms();  // each of the last batches would wait as long
        return fail(batch, overloaded("Another program has locked the database."));
      }
      if (!concerns_statement_only(error.primary_code)) {
        fail_stop("write", error.what(), error.extended_code);
      }
      log_error("store", "batch rolled back", {{"error", error.what()}});
      return fail(batch, not_stored());
    } catch (const std::exception& error) {
      // A floor or a constraint failed outside a command, so none of the batch's commands can be
      // trusted.
      log_error("store", "batch rolled back", {{"error", error.what()}});
      return fail(batch, not_stored());
    }
    if (!commit(batch)) return;
    note_commit(batch, watch);
    finish(batch);
  }

  /// Stores the time of the last commit, because a restart needs it exactly and not every change
  /// writes an entry or an event.
  void store_time(const Batch& batch) {
    if (tx_.now_.ms - time_stored_ms_ < kStoreTimeEveryMs) return;
    const bool changes = std::ranges::any_of(batch.waiters, [](const Waiter* one) {
      return one->result && changes_anything(one->mode);
    });
    if (!changes) return;
    RecordClock::store(tx_.db(), tx_.now());
    time_stored_ms_ = tx_.now_.ms;
  }

  void note_commit(const Batch& batch, const Stopwatch& watch) {
    for (Counter* counter : tx_.counted_) counter->add();
    tx_.counted_.clear();
    if (commit_times_ == nullptr) return;
    commit_times_->observe(watch.elapsed_us());
    batch_sizes_->observe(static_cast<std::int64_t>(batch.waiters.size()));
  }

  /// Runs the commands in the order of the queue, background commands last: settlement then finds
  /// the payments that the same commit accepts.
  void run_all(Batch& batch) {
    std::stable_partition(batch.waiters.begin(), batch.waiters.end(),
                          [](const Waiter* one) { return one->mode != Mode::background; });
    const auto begin = batch.waiters.begin();
    const auto end = batch.waiters.end();
    for (auto at = begin; at != end;) {
      const auto next = std::find_if(
          at, end, [&](const Waiter* one) { return !batch.stored || !is_repeatable(one->mode); });
      if (next == at) {
        run_one(**at++, batch.stored);
      } else {
        // A rollback of the transaction would start a running backup again.
        run_group({at, next}, at == begin && !tx_.db().is_backed_up());
        at = next;
      }
    }
    commands.fetch_add(batch.waiters.size(), std::memory_order_relaxed);
  }

  /// Runs repeatable commands. With `first`, no command of the batch has run before them, so
  /// undoing them means rolling back the transaction.
  void run_group(std::span<Waiter* const> waiters, bool first) {
    Connection& db = tx_.db();
    if (!first) {  // writes changes of earlier commands that are only in memory to the file
      tx_.balances_.flush();
      tx_.quotas_.flush(tx_.now_);
      seal_ledger(tx_);
      db.run(kGroup);
    }
    const std::size_t counted = tx_.counted_.size();
    if (!run_bare(waiters)) {
      if (first) {
        transaction_->roll_back();
        transaction_.emplace(db);
      } else {
        db.run(kRollbackGroup);
      }
      memory_.forget_rows();
      tx_.counted_.resize(counted);
      for (Waiter* waiter : waiters) run_one(*waiter, true);
    }
    if (!first) db.run(kReleaseGroup);
  }

  /// Runs without savepoints. Returns false if a command failed after it had written, or if its
  /// rows cannot be written; all of the group must then be undone.
  bool run_bare(std::span<Waiter* const> waiters) {
    const auto written = [&] { return std::pair(tx_.db().total_changes(), tx_.new_rows_.size()); };
    for (Waiter* waiter : waiters) {
      const auto before = written();
      memory_.begin_command();
      run_command(*waiter);
      if (waiter->result) continue;
      if (written() != before) return false;
      memory_.roll_back_command();
    }
    return write_new_rows();
  }

  /// With `stored` false, a command that changes a row fails with `storage-full`.
  void run_one(Waiter& waiter, bool stored) {
    Connection& db = tx_.db();
    const std::int64_t changes = db.total_changes();
    db.run(kSavepoint);
    memory_.begin_command();
    run_command(waiter);
    if (waiter.result && waiter.mode != Mode::dry_run) {
      if (!write_new_rows()) {
        waiter.result = unexpected(not_stored());
      } else if (!stored && db.total_changes() != changes) {
        waiter.result = unexpected(storage_full());
      }
    }
    if (!waiter.result || waiter.mode == Mode::dry_run) {
      db.run(kRollbackTo);
      tx_.new_rows_.clear();
      memory_.roll_back_command();
    }
    if (changes_anything(waiter.mode)) memory_.known.forget();
    db.run(kRelease);
  }

  /// Calls `work`. Returns false, and logs why, if it throws because of a bug of one command.
  /// Errors that affect the whole batch pass.
  template <class Work>
  bool succeeds(const Work& work) {
    try {
      work();
      return true;
    } catch (const SqlError& error) {
      if (!concerns_statement_only(error.primary_code) || tx_.db().autocommit()) throw;
      log_error("store", "command failed", {{"error", error.what()}});
    } catch (const std::exception& error) {
      log_error("store", "command failed", {{"error", error.what()}});
    }
    return false;
  }

  void run_command(Waiter& waiter) {
    const LogScope::Adopted scope(waiter.scope);
    if (!succeeds([&] { waiter.result = waiter.command(tx_); }))
      waiter.result = unexpected(not_stored());
  }

  /// Returns false if a row violates a constraint.
  bool write_new_rows() {
    return succeeds([&] { tx_.new_rows_.write(); });
  }

  bool commit(Batch& batch) {
    COFFER_CHECK(tx_.new_rows_.size() == 0);
    COFFER_FAULT("commit.before");
    try {
      transaction_->commit();
      transaction_.reset();
    } catch (const SqlError& error) {
      if (error.primary_code == SQLITE_FULL) {
        note_full(true);
        fail(batch, storage_full());
        return false;
      }
      fail_stop("commit", error.what(), error.extended_code);
    }
    COFFER_FAULT("commit.after");
    return true;
  }

  void fail(Batch& batch, const Problem& problem) {
    for (Waiter* waiter : batch.waiters) {
      // A command that already failed keeps its own Problem.
      if (waiter->result) waiter->result = unexpected(problem);
    }
    undo(batch);
  }

  /// Ends a batch whose commands have all been undone. A rollback would start a running backup
  /// again, and it would never end while clients try again. Where it exists, the commit changes
  /// nothing.
  void end_unstored(Batch& batch) {
    try {
      if (tx_.db().is_backed_up()) transaction_->commit();
    } catch (const SqlError& error) {
      if (error.primary_code != SQLITE_FULL) fail_stop("commit", error.what(), error.extended_code);
    }
    undo(batch);
  }

  /// Undoes all changes of the batch. The results of its commands stay.
  void undo(Batch& batch) {
    try {
      if (transaction_) transaction_->roll_back();
      transaction_.reset();
    } catch (const SqlError& error) {
      fail_stop("rollback", error.what(), error.extended_code);
    }
    if (failed_commits_ != nullptr) failed_commits_->add();
    memory_.forget_batch();
    time_stored_ms_ = 0;
    for (Waiter* waiter : batch.waiters) waiter->completion.complete();
  }

  void finish(Batch& batch) {
    if (is_full && has_room()) note_full(false);
    commits.fetch_add(1, std::memory_order_relaxed);
    last_commit_ms = clock_.monotonic_ms();
    if (tx_.tenancy_touched_) database_.tenancy_generation_.fetch_add(1);
    const unsigned signals = tx_.signals_;
    tx_.balances_.forget();
    tx_.signals_ = 0;
    tx_.tenancy_touched_ = false;
    for (Waiter* waiter : batch.waiters) waiter->completion.complete();
    for (unsigned left = signals; left != 0; left &= left - 1) {
      on_signal_(static_cast<Signal>(std::countr_zero(left)));
    }
  }

  /// Checks before writing, so that the disk always has room for the recovery of the file.
  bool disk_is_full() {
    const std::int64_t now = clock_.monotonic_ms();
    if (!is_full && disk_checked_ms_ >= 0 && now - disk_checked_ms_ < kDiskCheckEveryMs) {
      return false;
    }
    disk_checked_ms_ = now;
    if (has_room()) return false;  // Only a stored batch proves that there is enough space.
    note_full(true);
    return true;
  }

  bool has_room() const {
    return database_.free_bytes() >= options_.disk_floor_bytes && !COFFER_FAULT_FAILS("disk.full");
  }

  void note_full(bool full) {
    if (full == is_full) return;
    is_full = full;
    full ? log_error("store", "disk is full, rejecting writes",
                     {{"free", database_.free_bytes()}, {"disk_floor", options_.disk_floor_bytes}})
         : log_info("store", "disk has free space again, accepting writes");
  }

  Database& database_;
  RecordClock& clock_;
  const CommitQueueOptions& options_;
  const std::function<void(Signal)> on_signal_;
  Counter* failed_commits_ = nullptr;  // this member and the next two: null without `metrics`
  Histogram* batch_sizes_ = nullptr;
  Histogram* commit_times_ = nullptr;
  Memory memory_;
  WriteTx& tx_ = memory_.tx;
  std::optional<Transaction> transaction_;  // of the running batch
  Checkpointer checkpointer_;
  std::int64_t disk_checked_ms_ = -1;
  // 0: this process has not stored it, or the commit was rolled back.
  std::int64_t time_stored_ms_ = 0;
};

CommitQueue::CommitQueue(Database& database, const Clock& clock, CommitQueueOptions options,
                         std::function<void(Signal)> on_signal)
    : options_(options),
      clock_(clock, *database.writer_),
      writer_(std::make_unique<Writer>(database, clock_, options_, std::move(on_signal))) {
  note_changed_rows(*database.writer_, database.path());
  thread_ = Thread("writer", [this] { write_loop(); });
}

CommitQueue::~CommitQueue() { stop(); }

Result<void> CommitQueue::run(const Command& command, Mode mode) {
  if (options_.rejects) return unexpected(options_.rejects());
  if (CommitRider* rider = CommitRider::present(); rider != nullptr && mode != Mode::dry_run) {
    return rider->carry(*this, command);
  }
  Waiter waiter{command, mode, LogScope::current(), {}, {}};
  {
    const Lock lock(mutex_);
    if (stopping_) return unexpected(overloaded("The server is stopping."));
    if (waiting_.size() >= options_.queue_max || COFFER_FAULT_FAILS("queue.full")) {
      return unexpected(overloaded("Too many writes are waiting."));
    }
    waiting_.push_back(&waiter);
    arrived_.notify_one();
  }
  waiter.completion.wait();
  return std::move(waiter.result);
}

void CommitQueue::use_keys(std::unique_ptr<const ChainKeys> keys) {
  const Lock lock(mutex_);
  new_keys_ = std::move(keys);
}

void CommitQueue::set_balances(BalanceState state) { writer_->balances = state; }

void CommitQueue::end_waits_after(std::int64_t ms) {
  writer_->end_waits_at_ms = clock_.monotonic_ms() + ms;
}

CheckpointStats CommitQueue::checkpoints() const { return writer_->checkpoints(); }

/// Writes the sum to the file before the first record with a later time.
Result<void> CommitQueue::advance_clock(std::int64_t ms) {
  COFFER_CHECK(ms > 0);
  COFFER_TRY_VOID(run([ms](WriteTx& tx) -> Result<void> {
    RecordClock::store_advance(tx.db(), ms);
    return {};
  }));
  clock_.advance(ms);
  // Workers wait for times that may have passed now.
  return run([](WriteTx& tx) -> Result<void> {
    for (const Signal signal :
         {Signal::settlement, Signal::webhooks, Signal::providers, Signal::notifications}) {
      tx.signal(signal);
    }
    return {};
  });
}

Result<void> CommitQueue::probe() {
  return run([](WriteTx& tx) -> Result<void> {
    RecordClock::store(tx.db(), tx.now());
    return {};
  });
}

void CommitQueue::between_batches(const std::function<void(Connection&)>& work) {
  Between between{work, {}};
  bool runs_here = false;
  {
    const Lock lock(mutex_);
    runs_here = stopped_;
    if (!runs_here) between_.push_back(&between);
    arrived_.notify_one();
  }
  if (runs_here) return work(writer_->db());
  between.completion.wait();
}

void CommitQueue::stop() {
  {
    const Lock lock(mutex_);
    stopping_ = true;
    arrived_.notify_all();
  }
  thread_.join();
}

CommitStats CommitQueue::stats() const {
  CommitStats stats;
  stats.commands = writer_->commands;
  stats.commits = writer_->commits;
  stats.last_commit_ms = writer_->last_commit_ms;
  stats.storage_full = writer_->is_full;
  stats.busy_since_ms = busy_since_ms_;
  stats.clock_behind_ms = clock_.behind_ms();
  stats.clock_advanced_ms = clock_.advanced_ms();
  const Lock lock(mutex_);
  stats.queued = waiting_.size();
  return stats;
}

void CommitQueue::write_loop() {
  for (;;) {
    Writer::Batch batch;
    Between* between = nullptr;
    {
      const Lock lock(mutex_);
      while (waiting_.empty() && between_.empty() && !stopping_) arrived_.wait(mutex_);
      stopped_ = waiting_.empty() && between_.empty();
      if (stopped_) return;
      take_batch(batch.waiters);
      if (!between_.empty()) {
        between = between_.front();
        between_.pop_front();
      }
    }
    busy_since_ms_ = clock_.monotonic_ms();
    if (!batch.waiters.empty()) writer_->run(batch);
    if (between != nullptr) {
      between->work(writer_->db());
      between->completion.complete();
    }
    busy_since_ms_ = 0;
  }
}

void CommitQueue::take_batch(std::vector<Waiter*>& batch) {
  if (new_keys_) store::use_keys(writer_->db(), std::move(new_keys_));
  if (waiting_.empty()) return;
  const auto waits = [](const Waiter* one) { return one->mode == Mode::background; };
  if (!stopping_ && std::ranges::all_of(waiting_, waits))
    arrived_.wait_for_ms(mutex_, options_.patience_ms);
  const std::size_t count = std::min(waiting_.size(), options_.batch_max);
  const auto end = waiting_.begin() + static_cast<std::ptrdiff_t>(count);
  batch.assign(waiting_.begin(), end);
  waiting_.erase(waiting_.begin(), end);
}

}  // namespace coffer::store
