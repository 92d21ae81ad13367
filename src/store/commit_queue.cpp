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
#include <vector>

#include "base/check.h"
#include "base/fault.h"
#include "base/fibers/completion.h"
#include "base/files/side_files.h"
#include "base/platform/exit_code.h"
#include "base/telemetry/log.h"
#include "base/telemetry/log_scope.h"
#include "base/telemetry/metrics.h"
#include "store/commit_rider.h"
#include "store/file/held_file.h"
#include "store/invariants.h"
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

}  // namespace

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

struct CommitQueue::Batch {
  std::vector<Waiter*> waiters;
  bool stored = true;  // false: the disk is full, and the batch is rolled back
};

CommitQueue::CommitQueue(Database& database, const Clock& clock, CommitQueueOptions options,
                         std::function<void(Signal)> on_signal)
    : database_(database),
      clock_(clock),
      options_(options),
      on_signal_(std::move(on_signal)),
      known_rows_(*database.writer_),
      tx_(*database.writer_, known_rows_, open_payments_, options_.quotas),
      checkpointer_(*database.writer_, *database.readers_, options_.metrics),
      last_commit_ms_(clock.monotonic_ms()) {
  if (options_.metrics != nullptr) {
    Metrics& metrics = *options_.metrics;
    failed_commits_ = &metrics.counter("coffer_commit_failures_total",
                                       "Batches of commands that were rolled back as a whole.");
    batch_sizes_ = &metrics.histogram("coffer_commit_batch_commands", "Commands in one commit.",
                                      kBatchBuckets);
    commit_times_ = &metrics.histogram("coffer_commit_duration_seconds",
                                       "From the start of a batch until it is on disk, in seconds.",
                                       kWorkBuckets);
  }
  note_changed_rows(*database.writer_, database.path());
  continue_time(clock);
  tx_.now_ = clock_.now();
  watch_clock();
  thread_ = Thread("writer", [this] { write_loop(); });
}

CommitQueue::~CommitQueue() { stop(); }

Result<void> CommitQueue::run(const Command& command, Mode mode) {
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

void CommitQueue::between_batches(const std::function<void(Connection&)>& work) {
  Between between{work, {}};
  bool runs_here = false;
  {
    const Lock lock(mutex_);
    runs_here = stopped_;
    if (!runs_here) between_.push_back(&between);
    arrived_.notify_one();
  }
  if (runs_here) return work(tx_.db());
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
  stats.commands = commands_;
  stats.commits = commits_;
  stats.last_commit_ms = last_commit_ms_;
  stats.busy_since_ms = busy_since_ms_;
  stats.storage_full = storage_full_;
  stats.clock_behind_ms = clock_behind_ms();
  const Lock lock(mutex_);
  stats.clock_advanced_ms = advanced_ms_;
  stats.queued = waiting_.size();
  return stats;
}

void CommitQueue::write_loop() {
  for (;;) {
    Batch batch;
    Between* between = nullptr;
    {
      const Lock lock(mutex_);
      while (waiting_.empty() && between_.empty() && !stopping_) arrived_.wait(mutex_);
      stopped_ = waiting_.empty() && between_.empty();
      if (stopped_) return;
      take_batch(batch);
      if (!between_.empty()) {
        between = between_.front();
        between_.pop_front();
      }
    }
    busy_since_ms_ = clock_.monotonic_ms();
    if (!batch.waiters.empty()) run_batch(batch);
    if (between != nullptr) {
      between->work(tx_.db());
      between->completion.complete();
    }
    busy_since_ms_ = 0;
  }
}

void CommitQueue::take_batch(Batch& batch) {
  if (new_keys_) store::use_keys(tx_.db(), std::move(new_keys_));
  if (waiting_.empty()) return;
  if (!stopping_ && only_background_waits()) arrived_.wait_for_ms(mutex_, options_.patience_ms);
  const std::size_t count = std::min(waiting_.size(), options_.batch_max);
  const auto end = waiting_.begin() + static_cast<std::ptrdiff_t>(count);
  batch.waiters.assign(waiting_.begin(), end);
  waiting_.erase(waiting_.begin(), end);
}

void CommitQueue::run_batch(Batch& batch) {
  if (!database_.in_place()) {  // a restart would not find data that is stored now
    return fail_batch(batch, overloaded(kMovedFile));
  }
  if (disk_is_full()) run_unstored(batch);
  if (!batch.waiters.empty()) write_batch(batch);
  try {
    checkpointer_.run_when_due(batch.waiters.size());
  } catch (const SqlError& error) {
    fail_stop("checkpoint", error.what(), error.extended_code);
  }
}

bool CommitQueue::only_background_waits() const {
  return std::ranges::all_of(waiting_,
                             [](const Waiter* one) { return one->mode == Mode::background; });
}

/// Takes from the batch the commands that cannot be stored while the disk is full, and runs them
/// without storing anything. Those that change nothing, such as the repetition of an accepted
/// payment, have their usual result.
void CommitQueue::run_unstored(Batch& batch) {
  const auto kept = std::ranges::stable_partition(
      batch.waiters, [](const Waiter* one) { return one->mode != Mode::beyond_floor; });
  Batch unstored{{batch.waiters.begin(), kept.begin()}, false};
  batch.waiters.erase(batch.waiters.begin(), kept.begin());
  if (!unstored.waiters.empty()) write_batch(unstored);
}

/// After a stop has begun, limits how long BEGIN waits for another program.
void CommitQueue::limit_wait() {
  const std::int64_t end = end_waits_at_ms_;
  if (end == 0) return;
  const std::int64_t left = std::clamp<std::int64_t>(end - clock_.monotonic_ms(), 0, kBusyWaitMs);
  tx_.db().set_busy_wait(static_cast<int>(left));
}

void CommitQueue::write_batch(Batch& batch) {
  const Stopwatch watch;
  try {
    tx_.now_ = now();
    tx_.balances_.expect(balances_, account_fault);
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
      return fail_batch(batch, storage_full());
    }
    if (error.primary_code == SQLITE_BUSY) {
      log_error("store", "another program has locked the database", {{"error", error.what()}});
      if (end_waits_at_ms_ != 0) end_waits_after(0);  // each of the last batches would wait as long
      return fail_batch(batch, overloaded("Another program has locked the database."));
    }
    if (!concerns_statement_only(error.primary_code)) {
      fail_stop("write", error.what(), error.extended_code);
    }
    log_error("store", "batch rolled back", {{"error", error.what()}});
    return fail_batch(batch, not_stored());
  } catch (const std::exception& error) {
    // A floor or a constraint failed outside a command, so none of the batch's commands can be
    // trusted.
    log_error("store", "batch rolled back", {{"error", error.what()}});
    return fail_batch(batch, not_stored());
  }
  if (!commit(batch)) return;
  note_commit(batch, watch);
  finish(batch);
}

/// Stores the time of the last commit, because a restart needs it exactly and not every change
/// writes an entry or an event.
void CommitQueue::store_time(const Batch& batch) {
  if (tx_.now_.ms - time_stored_ms_ < kStoreTimeEveryMs) return;
  const bool changes = std::ranges::any_of(
      batch.waiters, [](const Waiter* one) { return one->result && changes_anything(one->mode); });
  if (!changes) return;
  write_time(tx_);
  time_stored_ms_ = tx_.now_.ms;
}

void CommitQueue::note_commit(const Batch& batch, const Stopwatch& watch) {
  for (Counter* counter : tx_.counted_) counter->add();
  tx_.counted_.clear();
  if (commit_times_ == nullptr) return;
  commit_times_->observe(watch.elapsed_us());
  batch_sizes_->observe(static_cast<std::int64_t>(batch.waiters.size()));
}

/// Runs the commands in the order of the queue, background commands last: settlement then finds the
/// payments that the same commit accepts.
void CommitQueue::run_all(Batch& batch) {
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
  commands_.fetch_add(batch.waiters.size(), std::memory_order_relaxed);
}

/// Runs repeatable commands. With `first`, no command of the batch has run before them, so undoing
/// them means rolling back the transaction.
void CommitQueue::run_group(std::span<Waiter* const> waiters, bool first) {
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
    forget_rows();
    tx_.counted_.resize(counted);
    for (Waiter* waiter : waiters) run_one(*waiter, true);
  }
  if (!first) db.run(kReleaseGroup);
}

/// Runs without savepoints. Returns false if a command failed after it had written, or if its rows
/// cannot be written; all of the group must then be undone.
bool CommitQueue::run_bare(std::span<Waiter* const> waiters) {
  const auto written = [&] { return std::pair(tx_.db().total_changes(), tx_.new_rows_.size()); };
  for (Waiter* waiter : waiters) {
    const auto before = written();
    begin_command();
    run_command(*waiter);
    if (waiter->result) continue;
    if (written() != before) return false;
    undo_in_memory();
  }
  return write_new_rows();
}

/// With `stored` false, a command that changes a row fails with `storage-full`.
void CommitQueue::run_one(Waiter& waiter, bool stored) {
  Connection& db = tx_.db();
  const std::int64_t changes = db.total_changes();
  db.run(kSavepoint);
  begin_command();
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
    undo_in_memory();
  }
  if (changes_anything(waiter.mode)) known_rows_.forget();
  db.run(kRelease);
}

/// Calls `work`. Returns false, and logs why, if it throws because of a bug of one command. Errors
/// that affect the whole batch pass.
template <class Work>
bool CommitQueue::succeeds(const Work& work) {
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

void CommitQueue::begin_command() {
  tx_.begin_command();
  open_payments_.begin_command();
}

void CommitQueue::run_command(Waiter& waiter) {
  const LogScope::Adopted scope(waiter.scope);
  if (!succeeds([&] { waiter.result = waiter.command(tx_); }))
    waiter.result = unexpected(not_stored());
}

/// Returns false if a row violates a constraint.
bool CommitQueue::write_new_rows() {
  return succeeds([&] { tx_.new_rows_.write(); });
}

/// Undoes the changes of the running command in memory.
void CommitQueue::undo_in_memory() {
  tx_.balances_.roll_back_command();
  tx_.quotas_.roll_back_command();
  for (const std::int64_t tenant : tx_.drawn_by_command_) --tx_.sequences_.at(tenant);
  tx_.chain_head_ = tx_.chain_head_before_;
  open_payments_.roll_back_command();
  if (tx_.tenancy_touched_) tx_.statuses_.clear();
  tx_.counted_.resize(tx_.counted_before_);
}

bool CommitQueue::commit(Batch& batch) {
  COFFER_CHECK(tx_.new_rows_.size() == 0);
  COFFER_FAULT("commit.before");
  try {
    transaction_->commit();
    transaction_.reset();
  } catch (const SqlError& error) {
    if (error.primary_code == SQLITE_FULL) {
      note_full(true);
      fail_batch(batch, storage_full());
      return false;
    }
    fail_stop("commit", error.what(), error.extended_code);
  }
  COFFER_FAULT("commit.after");
  return true;
}

void CommitQueue::fail_batch(Batch& batch, const Problem& problem) {
  for (Waiter* waiter : batch.waiters) {
    // A command that already failed keeps its own Problem.
    if (waiter->result) waiter->result = unexpected(problem);
  }
  undo_batch(batch);
}

/// Ends a batch whose commands have all been undone. A rollback would start a running backup again,
/// and it would never end while clients try again. Where it exists, the commit changes nothing.
void CommitQueue::end_unstored(Batch& batch) {
  try {
    if (tx_.db().is_backed_up()) transaction_->commit();
  } catch (const SqlError& error) {
    if (error.primary_code != SQLITE_FULL) fail_stop("commit", error.what(), error.extended_code);
  }
  undo_batch(batch);
}

/// Undoes all changes of the batch. The results of its commands stay.
void CommitQueue::undo_batch(Batch& batch) {
  try {
    if (transaction_) transaction_->roll_back();
    transaction_.reset();
  } catch (const SqlError& error) {
    fail_stop("rollback", error.what(), error.extended_code);
  }
  if (failed_commits_ != nullptr) failed_commits_->add();
  forget_batch();
  for (Waiter* waiter : batch.waiters) waiter->completion.complete();
}

void CommitQueue::forget_batch() {
  forget_rows();
  forget_changed_rows(tx_.db());
  tx_.counted_.clear();
  tx_.signals_ = 0;
  tx_.tenancy_touched_ = false;
  time_stored_ms_ = 0;
}

/// Discards in-memory copies of rows, because after a rollback they may contain undone changes.
void CommitQueue::forget_rows() {
  tx_.new_rows_.clear();
  tx_.balances_.forget();
  tx_.quotas_.forget();
  tx_.sequences_.clear();
  tx_.chain_head_ = {};
  tx_.provider_parts_.clear();
  tx_.statuses_.clear();
  known_rows_.forget();
}

void CommitQueue::finish(Batch& batch) {
  if (storage_full_ && has_room()) note_full(false);
  commits_.fetch_add(1, std::memory_order_relaxed);
  last_commit_ms_ = clock_.monotonic_ms();
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

void CommitQueue::fail_stop(const char* where, const std::string& what, int code) {
  log_error("store",
            "the state of the storage is uncertain, so the process exits; restart it to recover",
            {{"where", where}, {"error", what}, {"code", code}});
  ::_exit(exit_code::kUncertain);
}

}  // namespace coffer::store
