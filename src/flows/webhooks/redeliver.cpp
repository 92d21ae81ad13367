#include "flows/webhooks/redeliver.h"

#include "store/outbox/events.h"

namespace coffer::flows {

Result<store::DeliveryRow> resend_delivery(const Context& context, const WebhookRef& ref,
                                           EventId event) {
  return store::run_for<store::DeliveryRow>(
      context.queue, [&](store::WriteTx& tx) -> Result<store::DeliveryRow> {
        COFFER_TRY(const auto webhook, required_webhook(tx.db(), ref));
        const auto delivery = store::find_delivery(tx.db(), ref.tenant, webhook.key, event);
        if (!delivery) return unexpected(Slug::not_found, "There is no such delivery.");
        COFFER_TRY_VOID(active_webhook(tx.db(), ref));
        if (delivery->state == DeliveryState::oversize) {
          return unexpected(Slug::conflict,
                            "The event is too large to be delivered; read it from /v1/events.");
        }
        store::requeue_delivery(tx, webhook.key, delivery->sequence);
        tx.signal(store::Signal::webhooks);
        return *store::find_delivery(tx.db(), ref.tenant, webhook.key, event);
      });
}

Result<void> recover_deliveries(const Context& context, const WebhookRef& ref,
                                const RecoveryAsked& asked) {
  return context.queue.run([&](store::WriteTx& tx) -> Result<void> {
    COFFER_TRY(const auto webhook, active_webhook(tx.db(), ref));
    const std::int64_t first = store::first_sequence_since(tx.db(), ref.tenant, asked.from);
    const std::int64_t end = store::first_sequence_since(tx.db(), ref.tenant, asked.to);
    if (first >= end) return {};
    store::add_recovery(tx, {webhook.key, first, end - 1});
    tx.signal(store::Signal::webhooks);
    return {};
  });
}

Result<TestEvent> send_test_event(const Context& context, const WebhookRef& ref) {
  return store::run_for<TestEvent>(context.queue, [&](store::WriteTx& tx) -> Result<TestEvent> {
    COFFER_TRY(const auto webhook, active_webhook(tx.db(), ref));
    return emit_test_event(tx, context.random, ref.tenant.key, EventType::webhook_test,
                           webhook.key);
  });
}

Result<TestEvent> trigger_event(const Context& context, const Tenant& tenant, EventType type) {
  return store::run_for<TestEvent>(context.queue, [&](store::WriteTx& tx) -> Result<TestEvent> {
    return emit_test_event(tx, context.random, tenant.key, type, std::nullopt);
  });
}

}  // namespace coffer::flows
