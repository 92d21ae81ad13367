// Which faults the simulated provider commits, how often, and the dice that decide.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>

#include "base/mutex.h"
#include "base/random.h"
#include "base/result.h"

namespace coffer::cli::provider_sim {

enum class Fault {
  late,         // does what was asked, answers `ms` later
  refuse,       // 503, and nothing was done
  duplicate,    // a callback comes three times, the last time under another id
  reorder,      // a callback is held back for `ms`, so that later ones come first
  lose_answer,  // does what was asked, then breaks the connection off
  garbage,      // does what was asked, answers something that is no JSON
  hang,         // does nothing and is silent for `ms`, then breaks the connection off
};

/// Probability and time of each fault, as in `late=0.1:3000,refuse=0.05`.
class FaultPlan {
 public:
  static constexpr std::size_t kFaults = 7;

  /// Comma-separated `name=probability[:ms]`; empty: no faults. `malformed-request` otherwise.
  static Result<FaultPlan> parse(std::string_view spec);
  /// In the form that `parse` reads.
  std::string to_string() const;

 private:
  friend class FaultDice;
  struct Entry {
    int per_million = 0;
    int ms = 0;
  };
  std::array<Entry, kFaults> entries_{};
};

/// Thread safe.
class FaultDice {
 public:
  /// `chance` outlives the dice; a seeded one repeats a run of one thread.
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

}  // namespace coffer::cli::provider_sim
