#include "store/operations/backlog.h"

#include <algorithm>

#include "domain/ledger/wallet.h"
#include "domain/operations/message.h"
#include "domain/payments/payment.h"
#include "domain/payments/refund.h"
#include "domain/webhooks/webhook.h"
#include "store/lists/payment_walk.h"
#include "store/rows/columns.h"
#include "store/rows/key_walk.h"

namespace coffer::store {
namespace {

constexpr const char* kSettlement =
    "WITH due AS NOT MATERIALIZED (SELECT settle_at, payment FROM payments"
    " INDEXED BY payments_to_settle WHERE settle_at IS NOT NULL)"
    " SELECT (SELECT count(*) FROM (SELECT 1 FROM due LIMIT ?)),"
    " (SELECT settle_at FROM due ORDER BY settle_at LIMIT 1),"
    " (SELECT min(payment) FROM (SELECT payment FROM due ORDER BY settle_at LIMIT 1000))";
// Due times are in order within a lane. There are few lanes, and each needs one lookup.
constexpr const char* kProviders =
    "WITH RECURSIVE lanes(lane) AS (SELECT min(lane) FROM provider_jobs UNION ALL"
    " SELECT (SELECT min(lane) FROM provider_jobs WHERE lane > lanes.lane) FROM lanes"
    " WHERE lane IS NOT NULL)"
    " SELECT (SELECT count(*) FROM (SELECT 1 FROM provider_jobs LIMIT ?)),"
    " (SELECT min((SELECT due_at FROM provider_jobs j WHERE j.lane = lanes.lane"
    " ORDER BY due_at LIMIT 1)) FROM lanes),"
    " (SELECT min(payment) FROM provider_jobs)";
constexpr const char* kNotificationsWaiting =
    "SELECT count(*), min(due_at) FROM (SELECT due_at FROM messages INDEXED BY"
    " notifications_waiting WHERE state = 0 AND payment IS NOT NULL ORDER BY due_at LIMIT ?)";
constexpr const char* kNotificationsFailedCount =
    "SELECT count(*) FROM (SELECT 1 FROM messages INDEXED BY notifications_failed"
    " WHERE state = 2 AND payment IS NOT NULL LIMIT ?)";
constexpr const char* kReviews =
    "SELECT (SELECT count(*) FROM (SELECT 1 FROM wallets INDEXED BY wallets_not_verified"
    " WHERE status = 0 AND status <> 1 LIMIT ?)),"
    " (SELECT created_at FROM wallets INDEXED BY wallets_not_verified"
    " WHERE status = 0 AND status <> 1 ORDER BY wallet LIMIT 1)";
// The oldest payment of each tenant and status in progress, and the oldest of all of these; or of
// the on-ramps that are being refunded, the refund that waits longest.
constexpr const char* kOldestUnsettled =
    "SELECT min(since) FROM (SELECT created_at AS since FROM payments WHERE payment ="
    " (SELECT min(oldest) FROM (SELECT"
    " (SELECT p.payment FROM payments p INDEXED BY payments_not_succeeded"
    "  WHERE p.tenant = t.tenant AND p.status = s.status AND p.status <> 2"
    "  AND NOT EXISTS (SELECT 1 FROM refunds r WHERE r.payment = p.payment AND r.state = 0"
    "   AND r.id IS NOT NULL)"
    "  ORDER BY p.payment LIMIT 1) AS oldest FROM tenants t CROSS JOIN"
    " (SELECT 0 AS status UNION ALL SELECT 1 UNION ALL SELECT 4) s))"
    " UNION ALL SELECT min(at) FROM refunds INDEXED BY refunds_waiting"
    " WHERE state = 0 AND id IS NOT NULL)";
// The same payments, below a key or with a refund that began before a time.
constexpr const char* kInProgress =
    "SELECT count(*) FROM (SELECT 1 FROM tenants t CROSS JOIN"
    " (SELECT 0 AS status UNION ALL SELECT 1 UNION ALL SELECT 4) s"
    " CROSS JOIN payments p INDEXED BY payments_not_succeeded"
    " ON p.tenant = t.tenant AND p.status = s.status AND p.status <> 2 AND p.payment < ?1"
    " AND NOT EXISTS (SELECT 1 FROM refunds r WHERE r.payment = p.payment AND r.state = 0"
    " AND r.id IS NOT NULL AND r.at >= ?2) LIMIT ?3)";
static_assert(stored(PaymentStatus::initiated) == 0);
static_assert(stored(PaymentStatus::processing) == 1);
static_assert(stored(PaymentStatus::refund_pending) == 4);
static_assert(stored(RefundState::waiting) == 0);
static_assert(stored(PaymentStatus::succeeded) == 2);
static_assert(stored(MessageState::waiting) == 0);
static_assert(stored(MessageState::failed) == 2);
static_assert(stored(WalletStatus::pending) == 0);
static_assert(stored(WalletStatus::verified) == 1);
constexpr const char* kEndpointsGone =
    "SELECT count(*) FROM (SELECT 1 FROM webhooks INDEXED BY webhooks_disabled"
    " WHERE disable_reason = ? LIMIT ?)";
constexpr const char* kDeliveries =
    "SELECT count(*), min(due_at) FROM (SELECT due_at FROM deliveries INDEXED BY"
    " deliveries_undelivered WHERE webhook = ?1 AND state = ?2 AND state <> 1 LIMIT ?3)";
static_assert(stored(DeliveryState::delivered) == 1);
constexpr const char* kAudit = "SELECT entry FROM audit_log ORDER BY entry DESC LIMIT 1";
constexpr Column<ConnectorLabel> kConnectorColumns[] = {
    joined<&ConnectorLabel::key>("connector"), joined<&ConnectorLabel::id>("id"),
    joined<&ConnectorLabel::name>("name"),     joined<&ConnectorLabel::environment>("environment"),
    joined<&ConnectorLabel::driver>("driver"), joined<&ConnectorLabel::status>("status"),
};
const std::string kConnectors = select(kConnectorColumns) + " FROM connectors ORDER BY connector";

struct Endpoint {
  std::int64_t webhook = 0;
  std::int64_t failures = 0;
  std::int64_t cursor = 0;      // the last event that was processed for it
  std::int64_t last_event = 0;  // of its tenant
};
constexpr Column<Endpoint> kEndpointColumns[] = {
    joined<&Endpoint::webhook>("w.webhook"),
    joined<&Endpoint::failures>("w.failures"),
    joined<&Endpoint::cursor>("w.cursor"),
    joined<&Endpoint::last_event>("(SELECT e.sequence FROM events e WHERE e.tenant = w.tenant"
                                  " ORDER BY e.sequence DESC LIMIT 1)"),
};
const std::string kEndpoints =
    select(kEndpointColumns) +
    " FROM webhooks w INDEXED BY webhooks_active WHERE w.disabled_at IS NULL";

/// Keys of payments increase in the order of acceptance, so the lowest is the oldest.
Waiting payments_waiting(Connection& db, const char* sql) {
  Waiting out;
  std::optional<std::int64_t> oldest;
  {
    Query query(db, sql, kCountMax);
    query.step();
    out.count = query.integer(0);
    out.due = query.optional_time(1);
    oldest = query.optional_integer(2);
  }
  if (!oldest) return out;
  Query query(db, "SELECT created_at FROM payments WHERE payment = ?", *oldest);
  if (query.step()) out.created = query.time(0);
  return out;
}

void read_endpoint(Connection& db, std::int64_t webhook, Backlog& out) {
  const auto count = [&](DeliveryState state, std::int64_t already) {
    Query query(db, kDeliveries, webhook, state, std::max<std::int64_t>(0, kCountMax - already));
    query.step();
    return Waiting{query.integer(0), query.optional_time(1), std::nullopt};
  };
  const Waiting pending = count(DeliveryState::pending, out.deliveries.count);
  out.deliveries.count += pending.count;
  if (pending.due && (!out.deliveries.due || *pending.due < *out.deliveries.due)) {
    out.deliveries.due = pending.due;
  }
  out.dead_letters += count(DeliveryState::dead, out.dead_letters).count;
}

void read_endpoints(Connection& db, Backlog& out) {
  const auto active = all_rows<Endpoint>(Query(db, kEndpoints.c_str()), kEndpointColumns);
  out.endpoints = static_cast<std::int64_t>(active.size());
  for (const Endpoint& one : active) {
    if (one.failures > 0) ++out.endpoints_failing;
    out.events_behind += std::max<std::int64_t>(0, one.last_event - one.cursor);
    read_endpoint(db, one.webhook, out);
  }
}

}  // namespace

std::int64_t payments_in_progress_since(Connection& db, Timestamp before) {
  Query query(db, kInProgress, first_payment_since(db, before), before, kCountMax);
  return query.step() ? query.integer(0) : 0;
}

Backlog read_backlog(Connection& db) {
  Backlog out;
  out.settlement = payments_waiting(db, kSettlement);
  out.providers = payments_waiting(db, kProviders);
  {
    Query query(db, kNotificationsWaiting, kCountMax);
    query.step();
    out.notifications = {query.integer(0), query.optional_time(1), std::nullopt};
  }
  out.notifications_failed = first_integer(db, kNotificationsFailedCount, kCountMax).value_or(0);
  if (const auto oldest = first_integer(db, kOldestUnsettled))
    out.oldest_unsettled = Timestamp{*oldest};
  {
    Query query(db, kReviews, kCountMax);
    query.step();
    out.reviews = {query.integer(0), std::nullopt, query.optional_time(1)};
  }
  read_endpoints(db, out);
  out.last_backup = last_backup(db);
  out.endpoints_disabled =
      first_integer(db, kEndpointsGone, DisableReason::endpoint_gone, kCountMax).value_or(0);
  out.audit_records = first_integer(db, kAudit).value_or(0);
  out.connectors = all_rows<ConnectorLabel>(Query(db, kConnectors.c_str()), kConnectorColumns);
  return out;
}

}  // namespace coffer::store
