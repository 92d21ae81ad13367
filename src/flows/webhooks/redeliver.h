// Redelivery and test deliveries that an integrator requests (docs/contract.md#webhooks).
#pragma once

#include <vector>

#include "flows/context.h"
#include "flows/webhooks/events.h"
#include "flows/webhooks/webhook_changes.h"
#include "store/webhooks/deliveries.h"

namespace coffer::flows {

/// A new series of attempts with the same id and the same bytes, from now. `not-found`; `conflict`
/// when the endpoint is disabled or the event is too large to be sent.
Result<store::DeliveryRow> resend_delivery(const Context& context, const WebhookRef& ref,
                                           EventId event);

/// The same for every active endpoint that wants the event's type, also one that was registered
/// later; which they are. `conflict` when the event is too large to be sent.
Result<std::vector<store::WebhookRow>> resend_event(const Context& context, const Tenant& tenant,
                                                    EventId event);

struct RecoveryAsked {
  Timestamp from;
  Timestamp to;
};
/// Everything of the endpoint's types that happened in [from, to) and that it never got: what is
/// dead, and what happened before it was registered. Done in the background, oldest first.
/// `not-found`, `conflict`.
Result<void> recover_deliveries(const Context& context, const WebhookRef& ref,
                                const RecoveryAsked& asked);

/// `webhook.test` to this endpoint only, whatever types it takes. `not-found`, `conflict`.
Result<TestEvent> send_test_event(const Context& context, const WebhookRef& ref);

/// Sends a sample of this type to the subscribed webhook; no payment changes. For the sandbox.
Result<TestEvent> trigger_event(const Context& context, const Tenant& tenant, EventType type);

}  // namespace coffer::flows
