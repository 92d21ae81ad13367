// Verification of a served file in slices that hold a reader for milliseconds.
#pragma once

#include <vector>

#include "base/telemetry/progress.h"
#include "flows/context.h"
#include "store/operations/verification.h"

namespace coffer::flows {

struct VerifiedSlice {
  bool round_over = false;
  std::int64_t rest_ms = 0;  // the caller must wait this long before the next slice
};

/// Runs the next slice on a reader of the pool `verification`, and counts it in the metrics.
Result<VerifiedSlice> verify_slice(const Context& context, store::Verification& verification);

/// Verifies everything and returns the violations. `progress` may throw to stop.
Result<std::vector<store::Violation>> verify_in_slices(const Context& context,
                                                       const ProgressFunction& progress);

}  // namespace coffer::flows
