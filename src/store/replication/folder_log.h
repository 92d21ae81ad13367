// A log as a folder with one file for each entry: for tests, and for a second disk of one machine.
#pragma once

#include "base/random.h"
#include "store/replication/replica_log.h"

namespace coffer::store {

/// The name of a file is the place of its entry. A file gets its name when its content is durable,
/// and only if the name is free.
class FolderLog final : public ReplicaLog {
 public:
  /// Creates `folder` if it does not exist. `random` must outlive the log.
  static Result<std::unique_ptr<ReplicaLog>> open(const std::string& folder, Random& random);

  Appended append(std::span<const LogEntry> entries,
                  const std::function<void()>& meanwhile) override;
  Result<std::vector<LogEntry>> read_from(std::int64_t seq, std::size_t bytes_max) override;
  Result<LogTail> tail() override;
  Result<void> truncate(std::int64_t seq) override;

 private:
  FolderLog(std::string folder, Random& random) : folder_(std::move(folder)), random_(random) {}
  std::string path_of(std::int64_t seq) const;
  Result<LogEntry> read_entry(std::int64_t seq) const;
  Result<bool> may_append(const LogEntry& entry) const;
  Result<bool> still_follows(const LogEntry& entry) const;
  Appended append_one(const LogEntry& entry, const std::function<void()>& meanwhile);
  Result<std::vector<std::int64_t>> names() const;
  Result<std::vector<std::int64_t>> places() const;

  const std::string folder_;
  Random& random_;
};

}  // namespace coffer::store
