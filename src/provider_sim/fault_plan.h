// The faults that the simulated provider injects, their probabilities, and their random decisions.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>

#include "base/mutex.h"
#include "base/random.h"
#include "base/result.h"

namespace coffer::provider_sim {

enum class Fault {
  late,           // executes the request, responds `ms` later
  reject,         // responds with 503 and does nothing
  duplicate,      // sends a callback three times, the last time with another ID
  reorder,        // delays a callback by `ms`, so that later ones arrive first
  lose_response,  // executes the request, then closes the connection
  garbage,        // executes the request, responds with invalid JSON
  hang,           // does nothing for `ms`, then closes the connection
};

/// Probability and duration of each fault, such as `late=0.1:3000,reject=0.05`.
class FaultPlan {
 public:
  static constexpr std::size_t kFaults = 7;

  /// Comma-separated `name=probability[:ms]`; empty: no faults. `malformed-request` otherwise.
  static Result<FaultPlan> parse(std::string_view spec);
  /// In the syntax that `parse` reads.
  std::string to_string() const;

 private:
  friend class FaultDice;
  struct Entry {
    int per_million = 0;
    int ms = 0;
  };
  std::array<Entry, kFaults> entries_{};
};

/// Thread-safe.
class FaultDice {
 public:
  /// `chance` must outlive this object. With a seeded `chance`, a single-threaded run is
  /// reproducible.
  FaultDice(FaultPlan plan, Random& chance) : plan_(plan), chance_(chance) {}

  void replace(const FaultPlan& plan);
  FaultPlan plan() const;
  /// Whether the fault happens now.
  bool strikes(Fault fault);
  int ms_of(Fault fault) const;

 private:
  mutable Mutex mutex_;
  FaultPlan plan_ COFFER_GUARDED_BY(mutex_);
  Random& chance_;
};

}  // namespace coffer::provider_sim
