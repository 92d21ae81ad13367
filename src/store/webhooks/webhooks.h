// Registered webhooks of both route families (docs/contract.md#webhooks).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "domain/identity/tenant.h"
#include "domain/webhooks/event_type.h"
#include "domain/webhooks/webhook.h"
#include "store/commits/write_tx.h"
#include "store/rows/key_walk.h"

namespace coffer::store {

struct WebhookRow {
  std::int64_t key = 0;
  WebhookId id;
  Tenant tenant;
  std::int64_t application = 0;
  ApplicationId application_id;
  std::string url;
  std::optional<std::string> description;
  EventTypeSet types;
  std::string sealed_secret;
  std::optional<std::string> old_secret;  // sealed
  std::optional<Timestamp> old_secret_until;
  std::int64_t cursor = 0;
  Timestamp quiet_until;
  int failures = 0;
  std::optional<Timestamp> last_attempt_at;
  std::optional<std::int64_t> last_status;
  Timestamp created_at;
  Timestamp updated_at;
  std::optional<Timestamp> disabled_at;
  std::optional<DisableReason> disable_reason;

  bool is_active() const { return !disabled_at; }
};

struct WebhookFilter {
  std::optional<bool> active;
  /// Webhooks of one application that it has not removed.
  std::optional<std::int64_t> application;
};

std::optional<WebhookRow> find_webhook(Connection& db, const Tenant& tenant, WebhookId id);
/// For the delivery worker and for events. Does not check the tenant, so never call it for an
/// integrator's route.
std::optional<WebhookRow> find_webhook_by_key(Connection& db, std::int64_t webhook);
/// Newest first, at most `limit` rows beyond `page.key`.
RowPage<WebhookRow> list_webhooks(Connection& db, const Tenant& tenant, const WebhookFilter& filter,
                                  const PageAt& page);
/// Of all tenants, for the delivery worker.
std::vector<WebhookRow> active_webhooks(Connection& db);
/// Tenants that have or had a webhook, for housekeeping.
std::vector<Tenant> tenants_with_webhooks(Connection& db);
/// The active webhook of the tenant that receives events of this type.
std::optional<WebhookRow> find_subscriber(Connection& db, const Tenant& tenant, EventType type);
/// The elements of `types` to which another active webhook of the tenant subscribes.
std::vector<EventType> taken_types(Connection& db, const Tenant& tenant, EventTypeSet types,
                                   std::int64_t except_webhook);

/// Sets key, tenant and times of `row`, and claims its types, which must be free.
void insert_webhook(WriteTx& tx, const Tenant& tenant, WebhookRow& row);
/// Writes URL, description, types (with their claims) and secrets of an active webhook.
void update_webhook(WriteTx& tx, const WebhookRow& row);
/// Disables the webhook and releases its types.
void disable_webhook(WriteTx& tx, const WebhookRow& row, DisableReason reason);

/// Marks all events up to this sequence as processed.
void set_webhook_cursor(WriteTx& tx, std::int64_t webhook, std::int64_t sequence);
/// The result of the last of several attempts, or none for a new address.
struct WebhookHealth {
  int failures = 0;
  std::optional<Timestamp> last_attempt_at;
  std::optional<std::int64_t> last_status;
  Timestamp quiet_until;
};
void set_webhook_health(WriteTx& tx, std::int64_t webhook, const WebhookHealth& health);

/// Events to redeliver to a webhook: next, ..., last.
struct Recovery {
  std::int64_t key = 0;
  std::int64_t webhook = 0;
  std::int64_t next = 0;
  std::int64_t last = 0;
  Timestamp asked_at;
};
/// The oldest recovery of each webhook.
std::vector<Recovery> next_recoveries(Connection& db);
/// Maximum number of recoveries of a webhook.
inline constexpr int kRecoveriesMax = 100;
/// Adds the range, and merges recoveries of the webhook that overlap or adjoin it. Returns false if
/// there are too many others.
bool add_recovery(WriteTx& tx, std::int64_t webhook, std::int64_t first, std::int64_t last);
/// Moves a recovery to `next`, or ends it if `next` is beyond its end. Changes nothing if part of
/// it was requested again since `recovery` was read: its events are then examined again.
void advance_recovery(WriteTx& tx, const Recovery& recovery, std::int64_t next);

}  // namespace coffer::store
