// The circuit breaker of each connector, which pauses calls to a provider that keeps failing.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string_view>

#include "base/clock.h"
#include "base/mutex.h"
#include "base/result.h"
#include "domain/tables/terms.h"

namespace coffer::outbound {

/// State of the breaker of one connector, for display.
struct BreakerState {
  enum class Kind { closed, open, half_open };
  Kind kind = Kind::closed;
  int consecutive_faults = 0;
  std::optional<Timestamp> open_until;  // if open: time of the next trial call
};

}  // namespace coffer::outbound

template <>
struct coffer::Terms<coffer::outbound::BreakerState::Kind> {
  static constexpr auto rows = std::to_array<Term>({{"closed"}, {"open"}, {"half_open"}});
};

namespace coffer::outbound {

/// One breaker per connector key, and per negative key of a retired endpoint. Opens after
/// kFaultsToOpen consecutive failures. After kFirstPauseMs it permits one trial call (half-open),
/// whose result closes it or doubles the pause, up to kPauseMaxMs. Thread-safe.
class Breakers {
 public:
  static constexpr int kFaultsToOpen = 5;
  static constexpr std::int64_t kFirstPauseMs = 10'000;
  static constexpr std::int64_t kPauseMaxMs = 60'000;

  /// Permission for one call. Report its result with `succeeded` or `failed`. A permit that is
  /// destroyed without a result counts as failed.
  class Permit {
   public:
    Permit(Permit&& other) noexcept;
    Permit& operator=(Permit&&) = delete;
    ~Permit();
    /// The provider responded, with any content.
    void succeeded();
    /// The provider was unreachable, late or returned an invalid response.
    void failed();

   private:
    friend class Breakers;
    Permit(Breakers& breakers, std::int64_t key, std::int64_t round)
        : breakers_(&breakers), key_(key), round_(round) {}
    Breakers* breakers_;
    std::int64_t key_;
    std::int64_t round_;
  };

  explicit Breakers(const Clock& clock) : clock_(clock) {}

  /// `provider-unavailable` with the seconds to wait while the breaker of `key` is open.
  Result<Permit> admit(std::int64_t key);
  BreakerState state(std::int64_t key) const;

 private:
  struct Entry {
    int errors = 0;
    bool open = false;
    bool trial = false;         // the trial call of a half-open breaker is in progress
    std::int64_t pause_ms = 0;  // the present pause
    std::int64_t until_ms = 0;  // monotonic
    // Increases with each opening and trial; results of earlier rounds are ignored.
    std::int64_t round = 0;
  };
  void record(std::int64_t key, std::int64_t round, bool good);

  const Clock& clock_;
  mutable Mutex mutex_;
  std::map<std::int64_t, Entry> entries_ COFFER_GUARDED_BY(mutex_);
};

}  // namespace coffer::outbound
