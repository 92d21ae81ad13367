#include "flows/operations/checkpoint_rounds.h"

#include <utility>

#include "base/log.h"
#include "flows/operations/file_keys.h"

namespace coffer::flows {

void CheckpointRounds::run() {
  const auto heads = store::with_reader(
      context_.database,
      [](store::Connection& db) -> Result<store::ChainHeads> { return store::chain_heads(db); });
  if (!heads || (!is_due(*heads) && faults().empty())) return;
  const auto line = make_checkpoint(context_);
  if (!line) {
    log_error("store", "checkpoint failed", {{"problem", line.error().detail}});
    return;
  }
  last_ = *heads;
  last_ms_ = context_.clock.monotonic_ms();
  // In the log, it leaves the machine wherever logs do.
  log_info("store", "checkpoint", {{"line", *line}});
  note(witnesses_.write(*line));
}

bool CheckpointRounds::is_due(const store::ChainHeads& heads) const {
  if (last_ms_ < 0) return true;
  const std::int64_t rows =
      heads.entry_sets + heads.audit_entries - last_.entry_sets - last_.audit_entries;
  return rows >= kRows || (rows > 0 && context_.clock.monotonic_ms() - last_ms_ >= kEveryMs);
}

std::vector<std::string> CheckpointRounds::faults() const {
  const Lock lock(mutex_);
  return faults_;
}

/// Logs the first fault and the end of all, not each repetition.
void CheckpointRounds::note(std::vector<std::string> faults) {
  const Lock lock(mutex_);
  if (faults_.empty() != faults.empty()) {
    faults.empty() ? log_info("store", "all witnesses have the last checkpoint")
                   : log_error("store", "a checkpoint could not be written to a witness",
                               {{"problem", faults.front()}});
  }
  faults_ = std::move(faults);
}

}  // namespace coffer::flows
