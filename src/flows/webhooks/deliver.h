// Delivering: a round of the dispatcher queues, records and loads; senders send one at a time. Both
// are called by workers, which decide nothing.
#pragma once

#include <optional>

#include "flows/context.h"
#include "flows/webhooks/delivery_lanes.h"

namespace coffer::flows {

struct DeliveryRound {
  int queued = 0;                     // deliveries that were put into rows
  int recorded = 0;                   // attempts whose outcome was
  bool more = false;                  // another round has work at once
  std::optional<Timestamp> next_due;  // of the earliest that has to wait; empty: none
};

/// One commit with what is new and with what senders have finished, then what is due for the lanes.
/// Only one thread at a time. On a Problem nothing is lost: another round does it.
Result<DeliveryRound> run_delivery_round(const Context& context, DeliveryLanes& lanes);

/// What senders could take now.
DeliveryLanes::Chance delivery_chance(const Context& context, const DeliveryLanes& lanes);
/// The next ready delivery. `send_delivery` must follow. From any number of threads, as that.
std::optional<DeliveryJob> take_delivery(const Context& context, DeliveryLanes& lanes);
/// Sends it. When closing the lanes cuts an attempt short, it counts if the endpoint may have seen
/// the POST; otherwise the rows say that it is due.
void send_delivery(const Context& context, DeliveryLanes& lanes, const DeliveryJob& job);

/// Permanent: senders get no more jobs, and attempts in progress end now.
void cut_deliveries(const Context& context, DeliveryLanes& lanes);

/// Records what is finished, when no further round follows.
void record_finished(const Context& context, DeliveryLanes& lanes);

/// Drops some of what the delivery log keeps no longer; whether there is more.
Result<bool> prune_deliveries(const Context& context);

}  // namespace coffer::flows
