// Creates checkpoints of the served file, and writes them to the log and the witnesses.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "flows/context.h"
#include "outbound/operations/witness.h"
#include "store/file/chain_keys.h"

namespace coffer::flows {

/// Signs the heads of the served file's chains. First follows the chains from the previous
/// checkpoint, or from their beginning without one, and checks each link, in short reads. Stores
/// the line in the file as the new previous checkpoint. Calls `goes_on` between the reads, and ends
/// with `overloaded` if it returns false. `conflict` if a link is broken or the file does not match
/// the previous checkpoint.
Result<std::string> make_checkpoint(const Context& context, const std::function<bool()>& goes_on);

/// Makes a checkpoint after 10,000 new rows in the chains, but at most one per minute; with fewer
/// new rows, one per hour. Each is logged and written to the witnesses.
class CheckpointRounds {
 public:
  static constexpr std::int64_t kRestMs = kMinuteMs;
  static constexpr std::int64_t kRows = 10'000;
  static constexpr std::int64_t kEveryMs = kHourMs;

  CheckpointRounds(const Context& context, outbound::Witnesses witnesses)
      : context_(context), witnesses_(std::move(witnesses)) {}

  /// Writes a checkpoint if one is due, or if a witness does not have the last one. Blocks until
  /// the witnesses have responded. Call it on one thread, every kRestMs, and only while the
  /// invariants hold: a checkpoint of a damaged file would confirm the damage. Ends without a
  /// checkpoint if `stops` returns true. Rests between its reads (Pace), so that payments get the
  /// processors.
  void run(const std::function<bool()>& stops);
  /// The witnesses without the last checkpoint, as sentences. Thread-safe.
  std::vector<std::string> faults() const;

 private:
  bool is_due(const store::ChainHeads& heads) const;
  void note(std::vector<std::string> faults);

  const Context& context_;
  outbound::Witnesses witnesses_;
  store::ChainHeads last_;
  std::int64_t last_ms_ = -1;  // -1: none yet; on the machine's monotonic clock
  mutable Mutex mutex_;
  std::vector<std::string> faults_ COFFER_GUARDED_BY(mutex_);
};

}  // namespace coffer::flows
