// Redelivery and test deliveries that an integrator requests (docs/contract.md#webhooks).
#pragma once

#include <optional>

#include "flows/context.h"
#include "flows/events.h"
#include "flows/webhooks/webhook_changes.h"
#include "store/webhooks/deliveries.h"

namespace coffer::flows {

/// Starts a new series of attempts with the same ID and bytes. `not-found`; `conflict` if the
/// endpoint is disabled or the event is too large.
Result<store::DeliveryRow> resend_delivery(const Context& context, const WebhookRef& ref,
                                           EventId event);

/// The same for the active endpoint that subscribes to the event's type, even if it was registered
/// later; returns it, or nullopt without one. `conflict` if the event is too large.
Result<std::optional<store::WebhookRow>> resend_event(const Context& context, const Tenant& tenant,
                                                      EventId event);

struct RecoveryAsked {
  Timestamp from;
  Timestamp to;
};
/// Delivers all events of the endpoint's types in [from, to) that it did not receive: dead
/// deliveries, and events from before its registration. Runs in the background, oldest first.
/// `not-found`, `conflict`.
Result<void> recover_deliveries(const Context& context, const WebhookRef& ref,
                                const RecoveryAsked& asked);

/// Sends `webhook.test` to this endpoint only, regardless of its types. `not-found`, `conflict`.
Result<TestEvent> send_test_event(const Context& context, const WebhookRef& ref);

/// Sends a sample of this type to the subscribed webhook; no payment changes. For the sandbox.
Result<TestEvent> trigger_event(const Context& context, const Tenant& tenant, EventType type);

}  // namespace coffer::flows
