// Settling: posts or voids what acceptance held, exactly once, in one commit with the state and the
// events. The settlement worker calls this; a crash anywhere leaves the job for the next start.
#pragma once

#include <optional>

#include "flows/context.h"

namespace coffer::flows {

struct SettlementRound {
  int settled = 0;                    // payments that reached an end, good or bad
  std::optional<Timestamp> next_due;  // of the earliest job left; empty: none
};

/// Settles up to `limit` due payments, many per commit. A payment that fails because of a bug
/// is delayed alone and does not block the others.
Result<SettlementRound> settle_due_payments(const Context& context, int limit);

}  // namespace coffer::flows
