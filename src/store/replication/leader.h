// The leader's side of the log: every commit of its writer becomes entries before it is visible.
#pragma once

#include <atomic>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"
#include "base/random.h"
#include "base/thread.h"
#include "store/file/writer_vfs.h"
#include "store/replication/commit_pages.h"
#include "store/replication/file_position.h"
#include "store/replication/log_frames.h"
#include "store/replication/replica_log.h"

namespace coffer::store {

class Connection;

/// From the time at which an append was sent.
constexpr std::int64_t kLeaseMs = 2'000;
constexpr std::int64_t kHeartbeatMs = 500;

struct LeaderOptions {
  /// No other machine has the log: there is no lease, nothing ends the process, and after a commit
  /// that the log cannot have, the log begins again.
  bool alone = false;
  LogPosition committed = {};    // the last commit of the file, before this leader
  const Clock* clock = nullptr;  // whose time the commits have; nullptr: none
  std::string address = {};      // where other machines send clients
  /// Called when an append was not stored, or its result is unknown. Must end the process (70): it
  /// may neither respond nor go on, and a restart finds out. If it returns, the commit fails.
  std::function<void(const Appended&)> end;
  std::string marked = {};  // the file beside which a LoggedMark is kept; empty: without one
  std::size_t base_bytes = std::size_t{64} << 20;  // memory for the last images of pages
  std::int64_t lease_ms = kLeaseMs;
  std::int64_t heartbeat_ms = kHeartbeatMs;  // 0: no thread makes the log grow
  /// Drops the entries before `seq`. Called on another thread than the log itself.
  std::function<Result<void>(std::int64_t seq)> truncate = {};
  std::function<void(std::int64_t us)> took = {};  // told the duration of each append
};

/// The leader holds the lease of the process (base/platform/lease.h), which each append extends,
/// and calls `end` when it is over. Without commits, a thread appends heartbeats, so that a
/// checkpoint or another long work of the writer does not end the lease. For the thread of the
/// writer, except heartbeat() and position().
class Leader final : public LogTap {
 public:
  /// `tail`: of the log, which is the takeover of this leader, sent at `sent_ms` (boot_ms()). All
  /// references must outlive it.
  Leader(ReplicaLog& log, const EntryKeys& keys, Random& random, const LogTail& tail,
         std::int64_t sent_ms, LeaderOptions options);
  ~Leader() override;
  Leader(const Leader&) = delete;
  Leader& operator=(const Leader&) = delete;

  /// Makes all commits of `writer` entries of the log until this object is destroyed. Every
  /// Transaction also stores the position. Call it before the connection writes anything.
  void follow(Connection& writer);
  /// Appends an entry that changes nothing, unless one was appended in the last `idle_ms`.
  /// Thread-safe.
  void heartbeat(std::int64_t idle_ms);
  /// Of the last entry of this leader. Thread-safe.
  LogPosition position() const { return {seq_, epoch_}; }
  /// Whether an append took half of the lease or longer in the last five minutes. Thread-safe.
  bool was_slow() const;
  /// Drops the entries before `seq` from the log. May take long. For one thread.
  Result<void> truncate(std::int64_t seq) const {
    return options_.truncate ? options_.truncate(seq) : Result<void>();
  }

  void write(std::string_view bytes, std::int64_t at) override { frames_.write(bytes, at); }
  void forget() override { frames_.forget(); }
  int synchronise(const std::function<int()>& synchronise) override;

 private:
  void commit(const std::function<void()>& commit);
  int reject(const std::string& fault, const std::function<int()>& synchronise);
  /// Calls `work` at these intervals until the leader is destroyed, or `work` returns false.
  void repeat(std::int64_t every_ms, const std::function<bool()>& work);
  bool append(std::span<const LogEntry> entries, const std::function<void()>& meanwhile);

  ReplicaLog& log_;
  Random& random_;
  const LeaderOptions options_;
  Connection* writer_ = nullptr;
  LogFrames frames_;
  PageEncoder encoder_;
  std::optional<LoggedMark> mark_;
  // Held during a commit, whose position depends on the last entry, and by heartbeat(). Guards the
  // log and the members from here to `sent_ms_`.
  Mutex appending_;
  EntryChain chain_;
  Timestamp last_at_;   // of the last commit
  LogPosition stored_;  // that the last or present transaction contains
  std::atomic<std::int64_t> seq_;
  const std::int64_t epoch_;
  std::int64_t sent_ms_;                  // of the last append
  std::atomic<std::int64_t> slow_ms_{0};  // when the last slow append ended; 0: never
  Mutex mutex_;
  Condition stopped_;
  bool stopping_ COFFER_GUARDED_BY(mutex_) = false;
  Thread watch_;  // this one and the next are the last members
  Thread beat_;
};

}  // namespace coffer::store
