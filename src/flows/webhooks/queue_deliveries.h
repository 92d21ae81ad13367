// Turns events into deliveries: the events after an endpoint's cursor are rendered once and queued
// in the commit that advances the cursor. So a crash neither loses nor duplicates a delivery, and
// every attempt has the same bytes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "flows/context.h"
#include "store/webhooks/events.h"
#include "store/webhooks/webhooks.h"

namespace coffer::flows {

/// The deliveries to queue, read from one consistent state.
struct QueuePlan {
  struct Item {
    Tenant tenant;
    std::int64_t webhook = 0;
    std::int64_t sequence = 0;
    std::string body;  // empty: already stored
    bool oversize = false;
    bool again = false;  // from a recovery: dead deliveries are redelivered
  };
  std::vector<Item> items;
  std::vector<std::pair<std::int64_t, std::int64_t>> cursors;        // webhook, sequence
  std::vector<std::pair<store::Recovery, std::int64_t>> recoveries;  // as read, and their next
  bool more = false;  // there are more events to process

  bool empty() const { return items.empty() && cursors.empty() && recoveries.empty(); }
};

/// The next events of every active webhook, at most a few hundred for each, and the next part of
/// every recovery.
QueuePlan plan_deliveries(const Context& context, store::Connection& db,
                          const std::vector<store::WebhookRow>& webhooks);

/// Writes the plan, and takes changes since its creation into account.
void queue_deliveries(const Context& context, store::WriteTx& tx, const QueuePlan& plan);

}  // namespace coffer::flows
