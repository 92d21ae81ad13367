#include "outbound/providers/breaker.h"

#include <algorithm>
#include <utility>

namespace coffer::outbound {

Breakers::Permit::Permit(Permit&& other) noexcept
    : breakers_(std::exchange(other.breakers_, nullptr)), key_(other.key_), round_(other.round_) {}

Breakers::Permit::~Permit() { failed(); }

void Breakers::Permit::succeeded() {
  if (breakers_ != nullptr) std::exchange(breakers_, nullptr)->record(key_, round_, true);
}

void Breakers::Permit::failed() {
  if (breakers_ != nullptr) std::exchange(breakers_, nullptr)->record(key_, round_, false);
}

Result<Breakers::Permit> Breakers::admit(std::int64_t key) {
  const Lock lock(mutex_);
  Entry& entry = entries_[key];
  if (entry.open) {
    const std::int64_t left_ms = entry.until_ms - clock_.monotonic_ms();
    if (left_ms > 0 || entry.trial) {
      const auto seconds = static_cast<int>(std::max<std::int64_t>(1, (left_ms + 999) / 1000));
      return unexpected(Problem(Slug::provider_unavailable,
                                "The payment provider is unavailable: the circuit breaker is open "
                                "after repeated failures. Retry later.")
                            .retry_after(seconds));
    }
    entry.trial = true;
    ++entry.round;
  }
  return Permit(*this, key, entry.round);
}

void Breakers::record(std::int64_t key, std::int64_t round, bool good) {
  const Lock lock(mutex_);
  Entry& entry = entries_[key];
  if (entry.round != round) return;
  if (good) {
    entry = Entry{.round = round};
    return;
  }
  ++entry.errors;
  if (!entry.open && entry.errors < kFaultsToOpen) return;
  entry.pause_ms = entry.open ? std::min(entry.pause_ms * 2, kPauseMaxMs) : kFirstPauseMs;
  entry.open = true;
  entry.trial = false;
  entry.until_ms = clock_.monotonic_ms() + entry.pause_ms;
  ++entry.round;
}

BreakerState Breakers::state(std::int64_t key) const {
  const Lock lock(mutex_);
  const auto found = entries_.find(key);
  if (found == entries_.end()) return {};
  const Entry& entry = found->second;
  BreakerState out;
  out.consecutive_faults = entry.errors;
  if (!entry.open) return out;
  const std::int64_t left_ms = entry.until_ms - clock_.monotonic_ms();
  out.kind = left_ms > 0 ? BreakerState::Kind::open : BreakerState::Kind::half_open;
  if (left_ms > 0) out.open_until = clock_.now().plus_ms(left_ms);
  return out;
}

}  // namespace coffer::outbound
