// The work of a server for its archive: the log, snapshots, what is too old, and proven restores.
#pragma once

#include <atomic>
#include <functional>
#include <memory>

#include "app/opening.h"
#include "base/telemetry/worker_thread.h"
#include "domain/operations/condition.h"
#include "flows/operations/checkpoint_rounds.h"
#include "store/archive/segments.h"

namespace coffer {

class Archiving {
 public:
  /// All must outlive this object. `replica`: the log that this process archives; null: it archives
  /// nothing. `open` is empty without an archive.
  Archiving(const Config& config, const flows::Context& context, store::Replica* replica,
            OpenArchive open);
  /// For another thread; `not-found` without an archive.
  Result<std::unique_ptr<store::Archive>> open() const;
  /// Whether this process writes to the archive; without that, only open() may be called.
  bool writes() const { return open_ && replica_ != nullptr; }

  /// `stopping` ends long work early.
  void start(std::function<bool()> stopping);
  void stop();
  /// Stores what the log still has, for some seconds at most. Call it when nothing is committed any
  /// more.
  void finish();
  /// Sets what is known of the archive. Thread-safe.
  void add_facts(store::Connection& db, ConditionFacts& facts) const;
  /// Bytes stored since the start. Thread-safe.
  std::int64_t bytes() const;
  /// Where the checkpoints go, for one thread; empty if this process does not write.
  flows::CheckpointRounds::Keep head_keeper() const;

  /// Stores what is new in the log, also without a listener, for tests with a manual clock. Not
  /// while the threads run.
  Result<void> write(bool all);
  /// The next due one of the other tasks. Returns whether there was one.
  Result<bool> keep();

 private:
  std::int64_t write_step();
  std::int64_t keep_step();
  Result<bool> keep_one(store::Archive& archive);

  const Config& config_;
  const flows::Context& context_;
  store::Replica* const replica_;
  const OpenArchive open_;
  const Timestamp began_at_;
  std::function<bool()> stopping_ = [] { return false; };
  // For the thread `archive`.
  std::unique_ptr<store::Archive> written_;
  std::unique_ptr<store::SegmentWriter> writer_;
  std::atomic<const store::SegmentWriter*> begun_{nullptr};  // `writer_` once it exists
  std::atomic<bool> write_failed_{false};
  std::atomic<bool> keep_failed_{false};
  Timestamp dropped_at_;  // for the thread `archive-keeper`, like the next
  Timestamp tried_at_;    // to prove a restore
  WorkerThread write_thread_{"archive", [this] { return write_step(); }};
  // After an exception, such as of a full disk, a minute passes before the next copy.
  WorkerThread keep_thread_{"archive-keeper", [this] { return keep_step(); }, kMinuteMs};
};

}  // namespace coffer
