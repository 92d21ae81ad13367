#include "flows/webhooks/redeliver.h"

#include "flows/webhooks/event_body.h"
#include "flows/webhooks/webhooks.h"
#include "store/webhooks/events.h"

namespace coffer::flows {
namespace {

Problem too_large() {
  return Problem(Slug::conflict, "The event is too large for delivery. Read it from /v1/events.");
}

/// Queues the event for the endpoint, even if it was already delivered.
void queue_again(store::WriteTx& tx, const store::WebhookRow& webhook,
                 const store::EventRow& event) {
  const bool had =
      store::find_delivery_at(tx.db(), webhook.tenant, webhook.key, event.sequence).has_value();
  if (had) {
    store::requeue_delivery(tx, webhook.key, event.sequence);
  } else {
    store::insert_delivery(tx, webhook.tenant, webhook.key, event.sequence, DeliveryState::pending);
  }
}

/// The active endpoint that receives the event.
std::optional<store::WebhookRow> receiver_of(store::Connection& db, const Tenant& tenant,
                                             const store::EventRow& event) {
  if (event.type != EventType::webhook_test) return store::find_subscriber(db, tenant, event.type);
  auto tested = event.webhook ? store::find_webhook_by_key(db, *event.webhook) : std::nullopt;
  return tested && tested->is_active() ? tested : std::nullopt;
}

}  // namespace

Result<store::DeliveryRow> resend_delivery(const Context& context, const WebhookRef& ref,
                                           EventId event) {
  return context.write([&](store::WriteTx& tx) -> Result<store::DeliveryRow> {
    COFFER_TRY(const auto webhook, required_webhook(tx.db(), ref));
    COFFER_TRY(const auto delivery,
               existing(store::find_delivery(tx.db(), ref.tenant, webhook.key, event), "delivery"));
    COFFER_TRY_VOID(active_webhook(tx.db(), ref));
    if (delivery.state == DeliveryState::oversize) {
      return unexpected(too_large());
    }
    COFFER_TRY_VOID(tx.check_quota(ref.tenant, Quota::file_bytes));
    store::requeue_delivery(tx, webhook.key, delivery.sequence);
    tx.signal(store::Signal::webhooks);
    return *store::find_delivery(tx.db(), ref.tenant, webhook.key, event);
  });
}

Result<std::optional<store::WebhookRow>> resend_event(const Context& context, const Tenant& tenant,
                                                      EventId id) {
  using Found = std::optional<store::WebhookRow>;
  std::optional<store::EventRow> event;
  std::string body;
  COFFER_TRY_VOID(context.read([&](store::Connection& db) -> Result<void> {
    event = store::find_event(db, tenant, id);
    if (!event) return unexpected(Slug::not_found, "The event was not found.");
    body = EventBodies(context, db, tenant).body_of(*event);
    return {};
  }));
  if (body.size() > context.webhooks->policy.body_bytes_max) return unexpected(too_large());
  return context.write([&](store::WriteTx& tx) -> Result<Found> {
    COFFER_TRY_VOID(tx.check_quota(tenant, Quota::file_bytes));
    Found webhook = receiver_of(tx.db(), tenant, *event);
    if (!webhook) return webhook;
    queue_again(tx, *webhook, *event);
    store::keep_event_body(tx, tenant, event->sequence, body);
    tx.signal(store::Signal::webhooks);
    return webhook;
  });
}

Result<void> recover_deliveries(const Context& context, const WebhookRef& ref,
                                const RecoveryAsked& asked) {
  return context.write([&](store::WriteTx& tx) -> Result<void> {
    COFFER_TRY(const auto webhook, active_webhook(tx.db(), ref));
    COFFER_TRY_VOID(tx.check_quota(ref.tenant, Quota::file_bytes));
    const std::int64_t first = store::first_sequence_since(tx.db(), ref.tenant, asked.from);
    const std::int64_t end = store::first_sequence_since(tx.db(), ref.tenant, asked.to);
    if (first >= end) return {};
    if (!store::add_recovery(tx, webhook.key, first, end - 1)) {
      return unexpected(Slug::conflict, "The webhook has " + std::to_string(store::kRecoveriesMax) +
                                            " recoveries in progress. Retry when they are "
                                            "complete, or request one range that covers them.");
    }
    tx.signal(store::Signal::webhooks);
    return {};
  });
}

Result<TestEvent> send_test_event(const Context& context, const WebhookRef& ref) {
  return context.write([&](store::WriteTx& tx) -> Result<TestEvent> {
    COFFER_TRY(const auto webhook, active_webhook(tx.db(), ref));
    COFFER_TRY_VOID(tx.check_quota(ref.tenant, Quota::file_bytes));
    return emit_test_event(tx, context.random, ref.tenant.key, EventType::webhook_test,
                           webhook.key);
  });
}

Result<TestEvent> trigger_event(const Context& context, const Tenant& tenant, EventType type) {
  return context.write([&](store::WriteTx& tx) -> Result<TestEvent> {
    COFFER_TRY_VOID(tx.check_quota(tenant, Quota::file_bytes));
    return emit_test_event(tx, context.random, tenant.key, type, std::nullopt);
  });
}

}  // namespace coffer::flows
