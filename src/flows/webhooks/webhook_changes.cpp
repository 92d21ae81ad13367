#include "flows/webhooks/webhook_changes.h"

#include "auth/secret_hash.h"
#include "base/text/join.h"
#include "flows/events.h"
#include "flows/webhooks/webhooks.h"
#include "store/ledger/catalog.h"
#include "store/webhooks/deliveries.h"
#include "store/webhooks/events.h"

namespace coffer::flows {
namespace {

Result<void> check_free(store::Connection& db, const Tenant& tenant, EventTypeSet types,
                        std::int64_t webhook) {
  const auto taken = store::taken_types(db, tenant, types, webhook);
  if (taken.empty()) return {};
  Problem problem(Slug::webhook_event_type_taken);
  for (const EventType type : taken) {
    problem.fields.push_back(
        {"eventTypes", std::string(name(type)) + " is delivered to another active webhook"});
  }
  problem.detail = "Another active webhook subscribes to " +
                   join(taken, ", ", [](EventType type) { return name(type); }) + ".";
  return unexpected(std::move(problem));
}

/// Failures and pauses of the previous address say nothing about the new one.
void start_afresh(store::WriteTx& tx, store::WebhookRow& row) {
  row.failures = 0;
  row.last_attempt_at.reset();
  row.last_status.reset();
  row.quiet_until = {};
  store::set_webhook_health(tx, row.key, {});
  store::restart_deliveries(tx, row.key);
}

}  // namespace

std::string webhook_secret_context(WebhookId id) { return "webhook-secret:" + id.to_string(); }

Result<WebhookWithSecret> register_webhook(const Context& context, const Tenant& tenant,
                                           const NewWebhook& webhook) {
  COFFER_TRY_VOID(context.webhooks->sender.check_target(webhook.url, tenant.environment));
  const Secret secret = auth::generate_webhook_secret(context.random);
  store::WebhookRow row;
  row.application = webhook.application;
  row.url = webhook.url;
  row.description = webhook.description;
  row.types = webhook.types;
  COFFER_TRY(auto stored, context.write([&](store::WriteTx& tx) -> Result<store::WebhookRow> {
    COFFER_TRY_VOID(check_free(tx.db(), tenant, row.types, 0));
    COFFER_TRY_VOID(tx.check_quota(tenant, Quota::webhooks));
    row.id = tx.new_id<WebhookId>(context.random);
    row.sealed_secret = context.sealer.seal(secret.reveal(), webhook_secret_context(row.id));
    row.cursor = store::last_sequence(tx.db(), tenant);
    store::insert_webhook(tx, tenant, row);
    tx.signal(store::Signal::webhooks);
    return *store::find_webhook(tx.db(), tenant, row.id);
  }));
  return WebhookWithSecret{std::move(stored), secret};
}

Result<store::WebhookRow> required_webhook(store::Connection& db, const WebhookRef& ref) {
  auto row = store::find_webhook(db, ref.tenant, ref.id);
  const bool hidden =
      row && ref.application &&
      (row->application != *ref.application || row->disable_reason == DisableReason::by_owner);
  if (!row || hidden) return unexpected(Slug::not_found, "The webhook was not found.");
  return *std::move(row);
}

Result<store::WebhookRow> active_webhook(store::Connection& db, const WebhookRef& ref) {
  COFFER_TRY(auto row, required_webhook(db, ref));
  if (!row.is_active()) {
    return unexpected(Slug::conflict, "The webhook is permanently disabled. Register a new one.");
  }
  return row;
}

Result<store::WebhookRow> update_webhook(const Context& context, const WebhookRef& ref,
                                         const WebhookUpdate& update) {
  // Checks ownership before the content of the request.
  COFFER_TRY_VOID(context.read([&](store::Connection& db) { return active_webhook(db, ref); }));
  if (update.url) {
    COFFER_TRY_VOID(context.webhooks->sender.check_target(*update.url, ref.tenant.environment));
  }
  return context.write([&](store::WriteTx& tx) -> Result<store::WebhookRow> {
    COFFER_TRY(auto row, active_webhook(tx.db(), ref));
    const store::WebhookRow before = row;
    if (update.url && *update.url != row.url) {
      row.url = *update.url;
      start_afresh(tx, row);
    }
    if (update.description) row.description = *update.description;
    if (update.types) {
      COFFER_TRY_VOID(check_free(tx.db(), ref.tenant, *update.types, row.key));
      row.types = *update.types;
    }
    if (row.url == before.url && row.description == before.description &&
        row.types == before.types) {
      return row;
    }
    store::update_webhook(tx, row);
    tx.signal(store::Signal::webhooks);
    row.updated_at = tx.now();
    return row;
  });
}

void disable_in(store::WriteTx& tx, Random& random, const store::WebhookRow& webhook,
                DisableReason reason) {
  store::disable_webhook(tx, webhook, reason);
  store::close_pending_deliveries(tx, webhook.key);
  emit_event(tx, random, webhook.tenant.key, EventType::webhook_disabled, webhook.key);
}

Result<store::WebhookRow> disable_webhook(const Context& context, const WebhookRef& ref) {
  return context.write([&](store::WriteTx& tx) -> Result<store::WebhookRow> {
    COFFER_TRY(auto row, required_webhook(tx.db(), ref));
    if (!row.is_active()) return row;
    disable_in(tx, context.random, row, DisableReason::by_owner);
    return *store::find_webhook(tx.db(), ref.tenant, ref.id);
  });
}

Result<WebhookWithSecret> rotate_webhook_secret(const Context& context, const WebhookRef& ref,
                                                std::int64_t grace_s) {
  const Secret secret = auth::generate_webhook_secret(context.random);
  const std::string sealed = context.sealer.seal(secret.reveal(), webhook_secret_context(ref.id));
  COFFER_TRY(auto stored, context.write([&](store::WriteTx& tx) -> Result<store::WebhookRow> {
    COFFER_TRY(auto row, active_webhook(tx.db(), ref));
    row.old_secret.reset();
    row.old_secret_until.reset();
    if (grace_s > 0) {
      row.old_secret = row.sealed_secret;
      row.old_secret_until = tx.now().plus_ms(grace_s * 1'000);
    }
    row.sealed_secret = sealed;
    store::update_webhook(tx, row);
    tx.signal(store::Signal::webhooks);
    row.updated_at = tx.now();
    return row;
  }));
  return WebhookWithSecret{std::move(stored), secret};
}

Result<Secret> listener_secret(const Context& context, const Tenant& tenant) {
  const std::string key = "listener_secret:" + tenant.association.to_string() + ":" +
                          std::string(name(tenant.environment));
  auto stored = context.read([&](store::Connection& db) { return store::read_meta(db, key); });
  if (!stored) return unexpected(std::move(stored).error());
  std::string sealed = stored->value_or("");
  if (sealed.empty()) {
    const Secret fresh = auth::generate_webhook_secret(context.random);
    const std::string minted = context.sealer.seal(fresh.reveal(), key);
    COFFER_TRY(sealed, context.write([&](store::WriteTx& tx) {
      // Concurrent callers both get the first secret.
      if (auto there = store::read_meta(tx.db(), key)) return *there;
      store::write_meta(tx, key, minted);
      return minted;
    }));
  }
  return context.sealer.open(sealed, key);
}

}  // namespace coffer::flows
