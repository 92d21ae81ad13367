// Writing down what became of attempts: the log, the delivery, the endpoint.
#pragma once

#include <span>

#include "flows/context.h"
#include "flows/webhooks/delivery_lanes.h"

namespace coffer::flows {

/// What follows from an outcome when it was attempt number `attempt` of its series.
Ruling ruling_of(const Context& context, const DeliveryOutcome& outcome, int attempt);

/// In one command. An endpoint that answered that it is gone is disabled.
void record_outcomes(const Context& context, store::WriteTx& tx,
                     std::span<const DeliveryOutcome> outcomes);

}  // namespace coffer::flows
