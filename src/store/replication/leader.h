// The leader's side of the log: every commit of its writer becomes entries before it is visible.
#pragma once

#include <atomic>
#include <functional>
#include <vector>

#include "base/random.h"
#include "store/file/writer_vfs.h"
#include "store/replication/commit_pages.h"
#include "store/replication/log_frames.h"
#include "store/replication/replica_log.h"

namespace coffer::store {

class Connection;

struct LeaderOptions {
  /// Called when an append was not stored, or its result is unknown. Must end the process (70): it
  /// may neither respond nor go on, and a restart finds out. If it returns, the commit fails.
  std::function<void(const Appended&)> end;
  std::size_t base_bytes = std::size_t{64} << 20;  // memory for the last images of pages
};

/// For the thread of the writer, except position().
class Leader final : public LogTap {
 public:
  /// `tail`: of the log, which is the takeover of this leader. All references must outlive it.
  Leader(ReplicaLog& log, const EntryKeys& keys, Random& random, const LogTail& tail,
         LeaderOptions options);
  ~Leader() override;
  Leader(const Leader&) = delete;
  Leader& operator=(const Leader&) = delete;

  /// Makes all commits of `writer` entries of the log until this object is destroyed. Every
  /// Transaction also stores the position. Call it before the connection writes anything.
  void follow(Connection& writer);
  /// Appends an entry that changes nothing, outside a transaction.
  void heartbeat();
  /// Of the last entry of this leader. Thread-safe.
  LogPosition position() const { return {seq_, epoch_}; }

  void write(std::string_view bytes, std::int64_t at) override { frames_.write(bytes, at); }
  void forget() override { frames_.forget(); }
  int synchronise(const std::function<int()>& synchronise) override;

 private:
  void store_position();
  bool append(const std::vector<LogEntry>& entries, const std::function<void()>& meanwhile);

  ReplicaLog& log_;
  Random& random_;
  const LeaderOptions options_;
  Connection* writer_ = nullptr;
  LogFrames frames_;
  PageEncoder encoder_;
  EntryChain chain_;
  std::int64_t stored_seq_ = 0;  // of the position that the present transaction contains
  std::atomic<std::int64_t> seq_;
  const std::int64_t epoch_;
};

}  // namespace coffer::store
