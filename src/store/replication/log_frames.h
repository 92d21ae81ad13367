// The pages of the commits that a writer writes to its log (WAL), without reading the log.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "store/replication/commit_pages.h"

namespace coffer::store {

// https://sqlite.org/fileformat2.html#the_write_ahead_log
constexpr std::size_t kLogHeadBytes = 32;
constexpr std::size_t kFrameHeadBytes = 24;
constexpr std::size_t kFileSizeAt = 4;  // in the head of a frame: pages of the file; 0: no commit
/// A number of a log's head, or of a frame's.
std::uint32_t log_number_at(std::string_view bytes, std::size_t at);

/// Collects the frames of one transaction. SQLite may write a frame again: at the end of a large
/// transaction, or at the place of frames that a savepoint has rolled back. Not thread-safe.
class LogFrames {
 public:
  /// What SQLite writes to the log, in order.
  void write(std::string_view bytes, std::int64_t at);
  /// A write has failed, so the present transaction will not be committed.
  void forget() { commit_at_ = 0; }
  /// Whether the last writes end a transaction.
  bool holds_commit() const { return commit_at_ != 0; }
  /// The pages of this transaction. Requires holds_commit(). Valid until the next write.
  CommitPages commit() const;
  /// The transaction is in the log; the next one begins after it.
  void begin_next();
  /// False once another program has written to the log, whose frames are unknown.
  bool is_complete() const { return is_complete_; }

 private:
  std::size_t page_size_ = 0;
  std::int64_t begin_ = 0;      // where the transaction begins in the log; 0: unknown
  std::int64_t commit_at_ = 0;  // where its last frame begins; 0: it has not ended
  std::string bytes_;           // of the log, from `begin_` on
  bool is_complete_ = true;
};

}  // namespace coffer::store
