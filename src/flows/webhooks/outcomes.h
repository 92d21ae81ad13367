// Records the results of attempts: in the log, the delivery and the endpoint.
#pragma once

#include <span>

#include "flows/context.h"
#include "flows/webhooks/delivery_lanes.h"

namespace coffer::flows {

/// The consequence of a result for attempt number `attempt` of its series.
NextStep decide_next_step(const Context& context, const DeliveryOutcome& outcome, int attempt);

/// Records the results in one command, and disables an endpoint that responded with 410 Gone. The
/// failure of a previous URL is only logged: the present one gets the delivery.
void record_outcomes(const Context& context, store::WriteTx& tx,
                     std::span<const DeliveryOutcome> outcomes);

}  // namespace coffer::flows
