// Creates checkpoints of the served file, and writes them to the log and the archive.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>

#include "flows/context.h"
#include "store/file/chain_keys.h"

namespace coffer::flows {

/// Signs the heads of the served file's chains. First follows the chains from the previous
/// checkpoint, or from their beginning without one, and checks each link, in short reads. Stores
/// the line in the file as the new previous checkpoint. Calls `goes_on` between the reads, and ends
/// with `overloaded` if it returns false. `conflict` if a link is broken or the file does not match
/// the previous checkpoint.
Result<std::string> make_checkpoint(const Context& context, const std::function<bool()>& goes_on);

/// The row of `meta` with the line of the last checkpoint.
inline constexpr std::string_view kLastCheckpoint = "last_checkpoint";

/// Makes a checkpoint after 10,000 new rows in the chains, but at most one per minute; with fewer
/// new rows, one per hour. Each is logged and kept.
class CheckpointRounds {
 public:
  static constexpr std::int64_t kRestMs = kMinuteMs;
  static constexpr std::int64_t kRows = 10'000;
  static constexpr std::int64_t kEveryMs = kHourMs;

  /// Keeps the line of a checkpoint apart from the file, such as in an archive.
  using Keep = std::function<Result<void>(Timestamp at, const std::string& line)>;

  /// `keep` may be empty.
  CheckpointRounds(const Context& context, Keep keep) : context_(context), keep_(std::move(keep)) {}

  /// Makes a checkpoint if one is due, or if the last one was not kept. Blocks until it is. Call it
  /// on one thread, every kRestMs, and only while the invariants hold: a checkpoint of a damaged
  /// file would confirm the damage. Ends without a checkpoint if `stops` returns true. Rests
  /// between its reads (Pace), so that payments get the processors.
  void run(const std::function<bool()>& stops);
  /// Whether the last checkpoint could not be kept. Thread-safe.
  bool has_failed() const { return failed_; }

 private:
  bool is_due(const store::ChainHeads& heads) const;

  const Context& context_;
  const Keep keep_;
  store::ChainHeads last_;
  std::int64_t last_ms_ = -1;  // -1: none yet; on the machine's monotonic clock
  std::atomic<bool> failed_{false};
};

}  // namespace coffer::flows
