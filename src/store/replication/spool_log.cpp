#include "store/replication/spool_log.h"

namespace coffer::store {

Appended SpoolLog::append(std::span<const LogEntry> entries,
                          const std::function<void()>& meanwhile) {
  meanwhile();
  const Lock lock(mutex_);
  for (const LogEntry& entry : entries) {
    entries_.push_back(entry);
    bytes_ += entry.payload.size();
    tail_ = {entry.at, entry.digest};
  }
  if (bytes_ > bytes_max_) drop_before(tail_.at.seq + 1);
  return {};
}

Result<std::vector<LogEntry>> SpoolLog::read_from(std::int64_t seq, std::size_t bytes_max) {
  const Lock lock(mutex_);
  drop_before(seq);
  const std::int64_t first = entries_.empty() ? tail_.at.seq + 1 : entries_.front().at.seq;
  if (seq < first) {
    return unexpected(Slug::not_found, "Entry " + std::to_string(seq) + " was dropped.");
  }
  std::vector<LogEntry> out;
  std::size_t bytes = 0;
  for (auto entry = entries_.begin(); entry != entries_.end() && bytes < bytes_max; ++entry) {
    bytes += entry->payload.size();
    out.push_back(*entry);
  }
  return out;
}

Result<LogTail> SpoolLog::tail() {
  const Lock lock(mutex_);
  return tail_;
}

Result<void> SpoolLog::truncate(std::int64_t seq) {
  const Lock lock(mutex_);
  drop_before(seq);
  return {};
}

void SpoolLog::drop_before(std::int64_t seq) {
  while (!entries_.empty() && entries_.front().at.seq < seq) {
    bytes_ -= entries_.front().payload.size();
    entries_.pop_front();
  }
}

}  // namespace coffer::store
