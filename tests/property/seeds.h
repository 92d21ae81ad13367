// Seeds and dice of the property tests. A failure prints its seed; COFFER_SEED starts there again,
// and COFFER_SEEDS is the number of seeds (by default as many as fit into the budget).
#pragma once

#include <catch2/catch.hpp>
#include <cstdint>
#include <functional>
#include <iostream>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/environment.h"

namespace coffer::property {

/// SplitMix64: small, and identical on every machine.
class Dice {
 public:
  explicit Dice(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next() {
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15ULL);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
  }
  /// 0 to `sides` - 1.
  std::int64_t roll(std::int64_t sides) {
    return static_cast<std::int64_t>(next() % static_cast<std::uint64_t>(sides));
  }
  bool one_in(std::int64_t sides) { return roll(sides) == 0; }
  template <class T>
  const T& pick(const std::vector<T>& from) {
    return from[static_cast<std::size_t>(roll(static_cast<std::int64_t>(from.size())))];
  }

 private:
  std::uint64_t state_;
};

inline std::uint64_t number_from_environment(const char* name, std::uint64_t otherwise) {
  const auto text = environment_variable(name);
  return text ? std::stoull(*text) : otherwise;
}

/// Calls `run(seed)` for one seed after another, and prints the failing one.
inline void for_each_seed(const char* what, std::int64_t budget_ms,
                          const std::function<void(std::uint64_t)>& run) {
  const SystemClock clock;
  const std::uint64_t first =
      number_from_environment("COFFER_SEED", static_cast<std::uint64_t>(clock.now().ms));
  const std::uint64_t count = number_from_environment("COFFER_SEEDS", 0);
  const std::int64_t end = clock.monotonic_ms() + budget_ms;
  std::uint64_t done = 0;
  while (count != 0 ? done < count : clock.monotonic_ms() < end) {
    INFO(what << ": again with COFFER_SEED=" << first + done << " COFFER_SEEDS=1");
    run(first + done);
    ++done;
  }
  std::cout << what << ": " << done << " seeds from COFFER_SEED=" << first << '\n';
}

}  // namespace coffer::property
