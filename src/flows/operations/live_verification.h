// Verification of the file that is served, in slices that hold a reader for milliseconds.
#pragma once

#include <vector>

#include "base/telemetry/progress.h"
#include "flows/context.h"
#include "store/operations/verification.h"

namespace coffer::flows {

struct VerifiedSlice {
  bool round_over = false;
  std::int64_t rest_ms = 0;  // the caller waits as long before the next slice
};

/// The next slice, on a reader of the pool `verification`. Counts it in the metrics.
Result<VerifiedSlice> verify_slice(const Context& context, store::Verification& verification);

/// Everything from the first row on; what is broken. `progress` may throw to stop.
Result<std::vector<store::Violation>> verify_in_slices(const Context& context,
                                                       const ProgressFunction& progress);

}  // namespace coffer::flows
