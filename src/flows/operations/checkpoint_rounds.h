// Checkpoints of the served file: what they follow from, when they are written, and where.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "flows/context.h"
#include "outbound/operations/witness.h"
#include "store/chain_keys.h"

namespace coffer::flows {

/// Of the served file. Signs only heads that the chains lead to from the previous checkpoint of
/// this file, or from their beginning without one; checks the links between, in short reads. The
/// line is kept in the file as the next previous one. `conflict` if the chains do not lead there.
Result<std::string> make_checkpoint(const Context& context);

/// A checkpoint after 10,000 new rows of the chains, but at most one a minute; with fewer new rows,
/// one an hour. Each is logged and written to the witnesses.
class CheckpointRounds {
 public:
  static constexpr std::int64_t kRestMs = 60'000;
  static constexpr std::int64_t kRows = 10'000;
  static constexpr std::int64_t kEveryMs = 3'600'000;

  CheckpointRounds(const Context& context, outbound::Witnesses witnesses)
      : context_(context), witnesses_(std::move(witnesses)) {}

  /// Writes a checkpoint if one is due, or if a witness does not have the last one. Blocks while a
  /// witness responds. One thread; call it every kRestMs, and only while the invariants hold: a
  /// checkpoint of a damaged file would confirm the damage.
  void run();
  /// The witnesses without the last checkpoint, as sentences. Thread-safe.
  std::vector<std::string> faults() const;

 private:
  bool is_due(const store::ChainHeads& heads) const;
  void note(std::vector<std::string> faults);

  const Context& context_;
  outbound::Witnesses witnesses_;
  store::ChainHeads last_;
  std::int64_t last_ms_ = -1;  // none yet; by the machine's monotonic clock
  mutable Mutex mutex_;
  std::vector<std::string> faults_ COFFER_GUARDED_BY(mutex_);
};

}  // namespace coffer::flows
