// Delivery of events: a dispatcher round queues, records and loads deliveries, and each sender
// sends one at a time. Workers only call these functions.
#pragma once

#include <optional>

#include "flows/context.h"
#include "flows/webhooks/delivery_lanes.h"

namespace coffer::flows {

struct DeliveryRound {
  int queued = 0;                     // deliveries added to rows
  int recorded = 0;                   // attempts whose result was recorded
  bool more = false;                  // another round has work immediately
  std::optional<Timestamp> next_due;  // of the earliest waiting delivery; empty: none
};

/// Commits new deliveries and the results of senders, then loads due deliveries into the lanes. For
/// one thread at a time. After a Problem, the next round repeats the work, and nothing is lost.
Result<DeliveryRound> run_delivery_round(const Context& context, DeliveryLanes& lanes);

/// The work that is available to senders now.
DeliveryLanes::Available available_deliveries(const Context& context, const DeliveryLanes& lanes);
/// The next ready delivery. `send_delivery` must follow. Both are thread-safe.
std::optional<DeliveryJob> take_delivery(const Context& context, DeliveryLanes& lanes);
/// Sends the delivery. If closing the lanes interrupts the attempt, it counts if the endpoint may
/// have received the POST; otherwise the delivery stays due.
void send_delivery(const Context& context, DeliveryLanes& lanes, const DeliveryJob& job);

/// Ends deliveries permanently: senders get no more jobs, and attempts in progress are interrupted.
void cut_deliveries(const Context& context, DeliveryLanes& lanes);

/// Records finished attempts when no further round follows.
void record_finished(const Context& context, DeliveryLanes& lanes);

/// Deletes part of the expired delivery log; returns whether there is more.
Result<bool> prune_deliveries(const Context& context);

}  // namespace coffer::flows
