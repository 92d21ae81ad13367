// The circuit breaker of each connector: a provider that keeps failing is left alone for a while.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string_view>

#include "base/clock.h"
#include "base/mutex.h"
#include "base/result.h"

namespace coffer::outbound {

/// How the breaker of one connector stands; for pages.
struct BreakerState {
  enum class Kind { closed, open, half_open };
  Kind kind = Kind::closed;
  int consecutive_faults = 0;
  std::optional<Timestamp> open_until;  // when open: the next trial call may go then
};
std::string_view name(BreakerState::Kind kind);  // closed, open, half_open

/// One breaker per connector key, and per negative key of an endpoint that a connector has left.
/// Opens after kFaultsToOpen faults in a row; after kFirstPauseMs lets one trial call through
/// (half-open) whose result closes it or doubles the pause, up to kPauseMaxMs. Thread safe.
class Breakers {
 public:
  static constexpr int kFaultsToOpen = 5;
  static constexpr std::int64_t kFirstPauseMs = 10'000;
  static constexpr std::int64_t kPauseMaxMs = 60'000;

  /// Leave to make one call, to be answered by `succeeded` or `failed`. A permit that is dropped
  /// without an answer counts as failed.
  class Permit {
   public:
    Permit(Permit&& other) noexcept;
    Permit& operator=(Permit&&) = delete;
    ~Permit();
    /// The provider is there, whatever it said.
    void succeeded();
    /// It could not be reached, was late or broken.
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
    std::int64_t pause_ms = 0;  // the present one
    std::int64_t until_ms = 0;  // monotonic
    std::int64_t round = 0;     // rises with each opening and trial; older results say nothing
  };
  void record(std::int64_t key, std::int64_t round, bool good);

  const Clock& clock_;
  mutable Mutex mutex_;
  std::map<std::int64_t, Entry> entries_ COFFER_GUARDED_BY(mutex_);
};

}  // namespace coffer::outbound
