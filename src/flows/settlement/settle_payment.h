// Settlement: posts or voids the hold of a payment exactly once, in one commit with state and
// events. The settlement worker calls it. After a crash, the job still exists at the next start.
#pragma once

#include <optional>

#include "flows/context.h"

namespace coffer::flows {

struct SettlementRound {
  int settled = 0;                    // payments that reached a final status
  std::optional<Timestamp> next_due;  // of the earliest remaining job; empty: no job
};

/// Settles up to `limit` due payments, many per commit. A payment that fails because of a bug is
/// delayed alone and does not block the others.
Result<SettlementRound> settle_due_payments(const Context& context, int limit);

}  // namespace coffer::flows
