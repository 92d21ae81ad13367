// The log of a ledger of one machine, in memory, until an archive has it.
#pragma once

#include <deque>

#include "base/mutex.h"
#include "store/replication/replica_log.h"

namespace coffer::store {

/// Stores every entry, and drops those that have been read: read_from() says that its reader has
/// what is before. If that one is far behind, the log drops everything, so that the memory is
/// bounded, and read_from() fails with `not-found`. Thread-safe; for one reader.
class SpoolLog final : public ReplicaLog {
 public:
  explicit SpoolLog(std::size_t bytes_max = std::size_t{64} << 20) : bytes_max_(bytes_max) {}

  Appended append(std::span<const LogEntry> entries,
                  const std::function<void()>& meanwhile) override;
  Result<std::vector<LogEntry>> read_from(std::int64_t seq, std::size_t bytes_max) override;
  Result<LogTail> tail() override;
  Result<void> truncate(std::int64_t seq) override;

 private:
  void drop_before(std::int64_t seq) COFFER_REQUIRES(mutex_);

  const std::size_t bytes_max_;
  Mutex mutex_;
  std::deque<LogEntry> entries_ COFFER_GUARDED_BY(mutex_);
  std::size_t bytes_ COFFER_GUARDED_BY(mutex_) = 0;
  LogTail tail_ COFFER_GUARDED_BY(mutex_);
};

}  // namespace coffer::store
