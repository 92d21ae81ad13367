// The log that the machines of a ledger share, as an engine keeps it. Each engine has a driver.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "store/replication/entry.h"

namespace coffer::store {

enum class AppendResult {
  stored,   // durably, on as many machines as the engine needs not to lose it
  fenced,   // another machine leads, or the predecessor is not in the log; certainly not stored
  unknown,  // the engine did not say; the process must end, and a restart finds out
};

/// The result of an append, and its reason for the operator.
struct Appended {
  AppendResult result = AppendResult::stored;
  std::string why = {};
};

/// Not thread-safe. Problems are for the operator: `not-found` if the entries were truncated,
/// `validation-failed` if what is stored is not an entry, and others if the engine is not
/// reachable.
class ReplicaLog {
 public:
  virtual ~ReplicaLog() = default;

  /// Appends consecutive entries, of which only the first may be a takeover. Calls `meanwhile`
  /// once, while the engine works.
  ///
  /// The fence: an entry is stored only if the log has no entry at its place, and the place before
  /// it has an entry of the same epoch; for a takeover, of a lower one. An empty log accepts a
  /// takeover at any place. The check is part of the append, so that of two leaders one fails,
  /// however long one of them has slept. A primary key alone would not do: after a truncation, an
  /// old leader's place is free again.
  virtual Appended append(
      std::span<const LogEntry> entries, const std::function<void()>& meanwhile = [] {}) = 0;
  /// Consecutive entries from `seq` on, until their payloads reach `bytes_max` or earlier, but at
  /// least one; none if the log ends before `seq`. So only tail() or no entry shows its end.
  virtual Result<std::vector<LogEntry>> read_from(std::int64_t seq, std::size_t bytes_max) = 0;
  /// The last entry; zero for an empty log.
  virtual Result<LogTail> tail() = 0;
  /// Drops the entries before `seq`, but never the last one.
  virtual Result<void> truncate(std::int64_t seq) = 0;
};

/// Whether an entry of this kind may follow `predecessor`, which is at the place before it.
constexpr bool may_follow(const LogPosition& predecessor, const LogEntry& entry) {
  return entry.kind == EntryKind::takeover ? predecessor.epoch < entry.at.epoch
                                           : predecessor.epoch == entry.at.epoch;
}

}  // namespace coffer::store
