// Segments: pieces of the log as objects of an archive.
#pragma once

#include <atomic>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "store/archive/archive.h"
#include "store/replication/replica_log.h"

namespace coffer::store {

struct Segment {
  std::string run;        // 16 random bytes of its writer
  std::int64_t base = 0;  // number of the segment since which no entries are missing
  LogTail before;         // of the log before its first entry
  Timestamp until;        // when its last entry was the end of the log
  std::vector<LogEntry> entries = {};

  LogTail tail() const {
    return entries.empty() ? before : LogTail{entries.back().at, entries.back().digest};
  }
};

std::string segment_name(std::int64_t number);
/// How the log and restores name the run of a writer.
std::string run_name(const std::string& run);
Result<Segment> get_segment(Archive& archive, std::int64_t number);
/// `not-found` if the archive does not have this segment any more: its objects were removed, or
/// another disk is in its place.
Result<void> check_segment(Archive& archive, std::int64_t number);
/// The last segment and its number; 0 without one.
struct LastSegment {
  std::int64_t number = 0;
  Segment segment;
  Timestamp until;            // the archive has what was committed before, if nothing is missing
  std::int64_t snapshot = 0;  // the number of the newest one
};
Result<LastSegment> last_segment(Archive& archive);
/// The end of what the archive has before the segment `base`, since which no entries are missing.
/// 1970 if it has nothing there any more.
Result<Timestamp> end_before(Archive& archive, std::int64_t base);
/// What cannot be restored until a snapshot follows the segment since which no entries are missing.
/// `from`: as end_before().
std::string gap_text(Timestamp from);
/// Calls `take` with the numbers of the segments from `from` on, until it returns false.
Result<void> list_segments(Archive& archive, std::int64_t from,
                           const std::function<Result<bool>(std::int64_t number)>& take);

/// Writes the log to an archive, in which numbers are taken once: of two writers, one finds that.
/// For one thread, except the figures.
class SegmentWriter {
 public:
  /// All must outlive the writer. `log` is not used by another thread, unless it is thread-safe.
  SegmentWriter(Archive& archive, ReplicaLog& log, Random& random, const Clock& clock);

  /// Stores what is new in the log. Entries that change nothing wait until there are more, unless
  /// `all`. `conflict` if another writer uses the archive, or if its store lets objects be
  /// replaced: the writer then never writes again.
  Result<void> step(bool all);

  /// The number of the next segment; 0 until the writer has begun. Thread-safe, like the following.
  std::int64_t next() const { return next_; }
  /// A file can be restored from a snapshot with a higher number than this one.
  std::int64_t base() const { return base_; }
  /// What end_before() says of base().
  Timestamp gap_from() const { return {gap_from_ms_}; }
  /// The log did not continue what the archive had when the writer began.
  bool began_anew() const { return began_anew_; }
  /// Everything that was in the log at this time is in the archive; 1970 until the writer has
  /// begun.
  Timestamp until() const { return {until_ms_}; }
  /// Bytes that were stored.
  std::int64_t bytes() const { return bytes_; }
  bool has_ended() const { return ended_; }

 private:
  Result<void> begin();
  Result<void> begin_at(std::int64_t number, Segment first);
  Result<bool> continues(const LogTail& tail);
  Result<void> put(const Segment& segment);
  void note(const Segment& segment);
  Unexpected end(std::string why);

  Archive& archive_;
  ReplicaLog& log_;
  const Clock& clock_;
  const std::string run_;
  LogTail tail_;  // of the archive
  std::string end_why_;
  std::atomic<std::int64_t> next_{0};
  std::atomic<std::int64_t> base_{0};
  std::atomic<std::int64_t> gap_from_ms_{0};
  std::atomic<bool> began_anew_{false};
  std::atomic<std::int64_t> until_ms_{0};
  std::atomic<std::int64_t> bytes_{0};
  std::atomic<bool> ended_{false};
};

}  // namespace coffer::store
