#include "store/webhooks/webhooks.h"

#include <algorithm>

#include "base/check.h"
#include "store/rows/columns.h"
#include "store/rows/guarded_rows.h"
#include "store/rows/key_walk.h"

namespace coffer::store {
namespace {

constexpr Column<WebhookRow> kWebhookColumns[] = {
    joined<&WebhookRow::key>("w.webhook"),
    column<&WebhookRow::id>("w.id"),
    joined<&WebhookRow::tenant, &Tenant::key>("w.tenant"),
    joined<&WebhookRow::tenant, &Tenant::association>("s.id"),
    joined<&WebhookRow::tenant, &Tenant::environment>("t.environment"),
    column<&WebhookRow::application>("w.application"),
    joined<&WebhookRow::application_id>("a.id"),
    changing(column<&WebhookRow::url>("w.url")),
    changing(column<&WebhookRow::description>("w.description")),
    changing(Column<WebhookRow>{
        "w.event_types",
        [](const Query& q, int at, WebhookRow& row) {
          row.types = EventTypeSet::from_bits(q.integer(at));
        },
        [](Query& q, int at, const WebhookRow& row) { q.bind(at, row.types.bits()); }}),
    changing(blob_column<&WebhookRow::sealed_secret>("w.sealed_secret")),
    changing(blob_column<&WebhookRow::old_secret>("w.old_secret")),
    changing(column<&WebhookRow::old_secret_until>("w.old_secret_until")),
    column<&WebhookRow::cursor>("w.cursor"),
    joined<&WebhookRow::quiet_until>("w.quiet_until"),
    joined<&WebhookRow::failures>("w.failures"),
    joined<&WebhookRow::last_attempt_at>("w.last_attempt_at"),
    joined<&WebhookRow::last_status>("w.last_status"),
    column<&WebhookRow::created_at>("w.created_at"),
    column<&WebhookRow::updated_at>("w.updated_at"),
    joined<&WebhookRow::disabled_at>("w.disabled_at"),
    joined<&WebhookRow::disable_reason>("w.disable_reason"),
};
const std::string kSelectWebhook = select(kWebhookColumns) +
                                   " FROM webhooks w JOIN tenants t ON t.tenant = w.tenant"
                                   " JOIN associations s ON s.association = t.association"
                                   " JOIN applications a ON a.application = w.application";
const std::string kFindWebhook = kSelectWebhook + " WHERE w.id = ? AND w.tenant = ?";
const std::string kWebhookByKey = kSelectWebhook + " WHERE w.webhook = ?";
const std::string kSubscriber = kSelectWebhook +
                                " JOIN webhook_types c ON c.webhook = w.webhook"
                                " WHERE c.tenant = ? AND c.type = ?";
const std::string kActive = kSelectWebhook + " WHERE w.disabled_at IS NULL ORDER BY w.webhook";
const std::string kInsertWebhook =
    ColumnList{"tenant"}.add(kWebhookColumns).insert_into("webhooks");

constexpr KeyIndex kWebhooksOfTenant =
    COFFER_KEY_INDEX("webhook", "webhooks INDEXED BY webhooks_by_tenant", "tenant = ?3");
constexpr const char* kActiveOf = "SELECT webhook FROM webhook_types WHERE tenant = ?";
constexpr const char* kWebhookBrief =
    "SELECT disabled_at IS NULL, application, disable_reason FROM webhooks WHERE webhook = ?";

constexpr const char* kWebhookTenants =
    "SELECT t.tenant, a.id, t.environment FROM tenants t"
    " JOIN associations a ON a.association = t.association"
    " WHERE EXISTS (SELECT 1 FROM webhooks w WHERE w.tenant = t.tenant)";
constexpr const char* kTakenType =
    "SELECT 1 FROM webhook_types WHERE tenant = ? AND type = ? AND webhook <> ?";
constexpr const char* kClaim = "INSERT INTO webhook_types (tenant, type, webhook) VALUES (?, ?, ?)";
constexpr const char* kDropTypes = "DELETE FROM webhook_types WHERE webhook = ?";
const std::string kUpdateWebhook =
    ColumnList{"updated_at"}.add_changing(kWebhookColumns).update("webhooks") +
    " WHERE webhook = ? AND disabled_at IS NULL";
constexpr const char* kDisable =
    "UPDATE webhooks SET disabled_at = ?1, updated_at = ?1, disable_reason = ?2, old_secret = NULL,"
    " old_secret_until = NULL WHERE webhook = ?3 AND disabled_at IS NULL";
constexpr const char* kSetHealth =
    "UPDATE webhooks SET failures = ?, last_attempt_at = ?, last_status = ?, quiet_until = ?"
    " WHERE webhook = ?";

#define RECOVERY "recovery, webhook, next, last, asked_at FROM webhook_recoveries"
constexpr const char* kNextRecoveries =
    "SELECT " RECOVERY
    " WHERE recovery IN (SELECT min(recovery) FROM webhook_recoveries GROUP BY webhook)";
constexpr const char* kTouchingRecoveries =
    "SELECT " RECOVERY " WHERE webhook = ?1 AND next <= ?3 + 1 AND last >= ?2 - 1";
#undef RECOVERY
constexpr const char* kAdvanceRecovery =
    "UPDATE webhook_recoveries SET next = ?4 WHERE recovery = ?1 AND next = ?2 AND asked_at = ?3";
constexpr const char* kEndRecovery =
    "DELETE FROM webhook_recoveries WHERE recovery = ?1 AND next = ?2 AND asked_at = ?3";

template <class... Args>
std::vector<Recovery> recoveries(Connection& db, const char* sql, const Args&... args) {
  return all_of<Recovery, std::int64_t, std::int64_t, std::int64_t, std::int64_t, Timestamp>(
      db, sql, args...);
}

void claim_types(WriteTx& tx, const WebhookRow& row) {
  for (const EventType type : row.types.types()) {
    tx.db().run(kClaim, row.tenant.key, type, row.key);
  }
}

}  // namespace

std::optional<WebhookRow> find_webhook(Connection& db, const Tenant& tenant, WebhookId id) {
  auto row = first_row<WebhookRow>(db, kFindWebhook, kWebhookColumns, id, tenant.key);
  if (row) require_intact(db, "webhooks", row->key, {{"id", id}});
  return row;
}

std::optional<WebhookRow> find_webhook_by_key(Connection& db, std::int64_t webhook) {
  return first_row<WebhookRow>(db, kWebhookByKey, kWebhookColumns, webhook);
}

RowPage<WebhookRow> list_webhooks(Connection& db, const Tenant& tenant, const WebhookFilter& filter,
                                  const PageAt& page) {
  KeyWalk walk(db, page);
  // Each active webhook claims at least one event type of the tenant, and there are few types.
  const KeySource some = filter.active == true ? walk.known(integers(db, kActiveOf, tenant.key))
                                               : walk.along(kWebhooksOfTenant, tenant.key);
  const auto fits = [&](std::int64_t webhook) {
    Query q(db, kWebhookBrief, webhook);
    COFFER_CHECK(q.step());
    if (filter.active && *filter.active != q.boolean(0)) return false;
    const bool removed =
        !q.is_null(2) && q.enumeration<DisableReason>(2) == DisableReason::by_owner;
    return !filter.application || (*filter.application == q.integer(1) && !removed);
  };
  return walk.rows({{some}}, fits, [&](std::int64_t key) { return *find_webhook_by_key(db, key); });
}

std::vector<WebhookRow> active_webhooks(Connection& db) {
  return all_rows<WebhookRow>(Query(db, kActive.c_str()), kWebhookColumns);
}

std::optional<WebhookRow> find_subscriber(Connection& db, const Tenant& tenant, EventType type) {
  auto row = first_row<WebhookRow>(db, kSubscriber, kWebhookColumns, tenant.key, type);
  if (row) require_intact(db, "webhooks", row->key, {{"tenant", tenant.key}});
  return row;
}

std::vector<Tenant> tenants_with_webhooks(Connection& db) {
  return all_of<Tenant, std::int64_t, AssociationId, Environment>(db, kWebhookTenants);
}

std::vector<EventType> taken_types(Connection& db, const Tenant& tenant, EventTypeSet types,
                                   std::int64_t except_webhook) {
  std::vector<EventType> out;
  for (const EventType type : types.types()) {
    if (Query(db, kTakenType, tenant.key, type, except_webhook).step()) out.push_back(type);
  }
  return out;
}

void insert_webhook(WriteTx& tx, const Tenant& tenant, WebhookRow& row) {
  row.created_at = row.updated_at = tx.now();
  insert_row(tx.db(), kInsertWebhook, kWebhookColumns, row, tenant.key);
  row.key = tx.db().last_insert_key();
  row.tenant = tenant;
  claim_types(tx, row);
  tx.quotas().add(tenant.key, Quota::webhooks, 1);
  tx.quotas().add_bytes(tenant.key, row_bytes::kWebhook);
}

void update_webhook(WriteTx& tx, const WebhookRow& row) {
  update_row(tx.db(), kUpdateWebhook, kWebhookColumns, row, row.key, tx.now());
  COFFER_CHECK(tx.db().changes() == 1);
  tx.db().run(kDropTypes, row.key);
  claim_types(tx, row);
}

void disable_webhook(WriteTx& tx, const WebhookRow& row, DisableReason reason) {
  tx.db().run(kDisable, tx.now(), reason, row.key);
  COFFER_CHECK(tx.db().changes() == 1);
  tx.db().run(kDropTypes, row.key);
  tx.db().run("DELETE FROM webhook_recoveries WHERE webhook = ?", row.key);
  tx.quotas().add(row.tenant.key, Quota::webhooks, -1);
}

void set_webhook_cursor(WriteTx& tx, std::int64_t webhook, std::int64_t sequence) {
  tx.db().run("UPDATE webhooks SET cursor = max(cursor, ?) WHERE webhook = ?", sequence, webhook);
}

void set_webhook_health(WriteTx& tx, std::int64_t webhook, const WebhookHealth& health) {
  tx.db().run(kSetHealth, health.failures, health.last_attempt_at, health.last_status,
              health.quiet_until, webhook);
}

std::vector<Recovery> next_recoveries(Connection& db) { return recoveries(db, kNextRecoveries); }

bool add_recovery(WriteTx& tx, std::int64_t webhook, std::int64_t first, std::int64_t last) {
  Timestamp asked_at = tx.now();
  for (const Recovery& touching : recoveries(tx.db(), kTouchingRecoveries, webhook, first, last)) {
    // Even if the clock stands still, the time differs from that of the ranges that end here.
    asked_at = std::max(asked_at, touching.asked_at.plus_ms(1));
    first = std::min(first, touching.next);
    last = std::max(last, touching.last);
    tx.db().run(kEndRecovery, touching.key, touching.next, touching.asked_at);
  }
  Query count(tx.db(), "SELECT count(*) FROM webhook_recoveries WHERE webhook = ?", webhook);
  COFFER_CHECK(count.step());
  if (count.integer(0) >= kRecoveriesMax) return false;
  tx.db().run("INSERT INTO webhook_recoveries (webhook, next, last, asked_at) VALUES (?, ?, ?, ?)",
              webhook, first, last, asked_at);
  return true;
}

void advance_recovery(WriteTx& tx, const Recovery& recovery, std::int64_t next) {
  if (next > recovery.last) {
    tx.db().run(kEndRecovery, recovery.key, recovery.next, recovery.asked_at);
  } else {
    tx.db().run(kAdvanceRecovery, recovery.key, recovery.next, recovery.asked_at, next);
  }
}

}  // namespace coffer::store
