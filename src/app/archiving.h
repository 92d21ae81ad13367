// The work of a server for its archive: the log, snapshots, what is too old, and proven restores.
#pragma once

#include <atomic>
#include <functional>
#include <memory>

#include "app/opening.h"
#include "base/mutex.h"
#include "base/telemetry/progress.h"
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
  /// For another thread, with this link or, without one, until end_work(); `not-found` without an
  /// archive.
  Result<std::unique_ptr<store::Archive>> open(outbound::ArchiveLink* link = nullptr);
  /// Whether this process writes to the archive; without that, only open() may be called.
  bool writes() const { return open_ && replica_ != nullptr; }

  /// `stopping` ends long work early.
  void start(std::function<bool()> stopping);
  /// Ends every call to the store, except those that write the log. Permanent; thread-safe.
  void end_work();
  /// Ends all but the writing of the log.
  void stop();
  /// Stores what the log still has, for some seconds at most, also beside a store that does not
  /// respond. Call it when nothing is committed any more.
  void finish();
  /// Sets what is known of the archive. Thread-safe.
  void add_facts(store::Connection& db, ConditionFacts& facts) const;
  /// Bytes stored since the start. Thread-safe.
  std::int64_t bytes() const;
  /// Where the checkpoints go, for one thread; empty if this process does not write.
  flows::CheckpointRounds::Keep head_keeper();

  /// Stores what is new in the log, also without a listener, for tests with a manual clock. Not
  /// while the threads run.
  Result<void> write(bool all);
  /// The next due one of the other tasks. Returns whether there was one.
  Result<bool> keep();

 private:
  /// The state of a thread's work.
  struct Work {
    const char* failed;  // as the log says it
    const char* works_again;
    std::string problem = {};  // of the last try
    bool is_over = false;      // it will not be tried again
  };
  std::int64_t write_step();
  std::int64_t keep_step();
  Result<void> try_write(bool all);
  Result<bool> try_keep();
  Result<bool> keep_one(store::Archive& archive);
  Result<void> make_snapshot(store::Archive& archive, const ProgressFunction& progress);
  void note(Work& work, const Problem* problem) COFFER_REQUIRES(mutex_);
  std::optional<Timestamp> gap() const;

  const Config& config_;
  const flows::Context& context_;
  store::Replica* const replica_;
  const OpenArchive open_;
  const Timestamp began_at_;
  // Two, so that the end of other work does not end the writing. For archives that are open.
  std::optional<outbound::ArchiveLink> write_link_;
  std::optional<outbound::ArchiveLink> work_link_;
  std::function<bool()> stopping_ = [] { return false; };
  // For the thread `archive`.
  std::unique_ptr<store::Archive> written_;
  std::unique_ptr<store::SegmentWriter> writer_;
  std::string lack_;  // flows::archive_lack(), before the writer began
  std::atomic<const store::SegmentWriter*> begun_{nullptr};  // `writer_` once it exists
  std::atomic<std::int64_t> snapshot_{-1};  // number of the newest one; -1: not known yet
  mutable Mutex mutex_;
  Work writing_ COFFER_GUARDED_BY(mutex_){"the archive does not get the log",
                                          "the archive has the log again"};
  Work keeping_ COFFER_GUARDED_BY(mutex_){"the archive could not be maintained",
                                          "the archive is maintained again"};
  Timestamp dropped_at_;  // for the thread `archive-keeper`, like the next
  Timestamp tried_at_;    // to prove a restore
  WorkerThread write_thread_{"archive", [this] { return write_step(); }};
  WorkerThread keep_thread_{"archive-keeper", [this] { return keep_step(); }};
};

}  // namespace coffer
