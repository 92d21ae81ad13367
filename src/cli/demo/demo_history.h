// `coffer demo --seed N`: a week of history in a new demo, made by the flows that also serve the
// API.
#pragma once

#include <cstdint>

#include "base/clock.h"
#include "cli/demo/demo_seed.h"

namespace coffer::cli {

/// How far in the past the history starts.
inline constexpr std::int64_t kHistoryMs = 7 * kDayMs;

/// Makes payments of every kind, with successes, failures, refunds and payments in progress;
/// reviews of wallets; and deliveries to a webhook whose endpoint does not respond. Moves `clock`,
/// which is the clock of `app`, forward by less than kHistoryMs. The same seed gives the same
/// history; IDs and secrets differ.
Result<void> make_demo_history(App& app, ManualClock& clock, const DemoWorld& world,
                               ApplicationId application, std::uint64_t seed,
                               const ProgressFunction& progress);

}  // namespace coffer::cli
