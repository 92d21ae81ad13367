#include "store/webhooks/deliveries.h"

#include "store/rows/columns.h"
#include "store/webhooks/event_id.h"
#include "store/webhooks/events.h"

namespace coffer::store {
namespace {

constexpr Column<DeliveryRow> kDeliveryColumns[] = {
    joined<&DeliveryRow::webhook>("d.webhook"),
    joined<&DeliveryRow::sequence>("d.sequence"),
    joined<&DeliveryRow::id>(COFFER_EVENT_ID("e.")),
    joined<&DeliveryRow::type>("e.type"),
    joined<&DeliveryRow::state>("d.state"),
    joined<&DeliveryRow::attempts>("d.attempts"),
    joined<&DeliveryRow::tries>("d.tries"),
    joined<&DeliveryRow::due_at>("d.due_at"),
    joined<&DeliveryRow::created_at>("d.created_at"),
    joined<&DeliveryRow::closed_at>("d.closed_at"),
};
constexpr const char* kOfEvent =
    " CROSS JOIN events e ON e.tenant = ?1 AND e.sequence = d.sequence WHERE d.webhook = ?2";
const std::string kAt =
    select(kDeliveryColumns) + " FROM deliveries d" + kOfEvent + " AND d.sequence = ?3";
// Uses a fixed index, because every other plan would read old deliveries.
const std::string kDue =
    select(kDeliveryColumns) + " FROM deliveries d INDEXED BY deliveries_undelivered" + kOfEvent +
    " AND d.state = 0 AND d.state <> 1 AND d.due_at <= ?3 ORDER BY d.due_at, d.sequence LIMIT ?4";
constexpr KeyIndex kOfWebhook = COFFER_KEY_INDEX("sequence", "deliveries", "webhook = ?3");
// Without a due time, the index has the order of the list.
constexpr KeyIndex kClosed =
    COFFER_KEY_INDEX("sequence", "deliveries INDEXED BY deliveries_undelivered",
                     "webhook = ?3 AND state = ?4 AND state <> 1 AND due_at IS NULL");
constexpr const char* kPending =
    "SELECT sequence FROM deliveries INDEXED BY deliveries_undelivered"
    " WHERE webhook = ? AND state = 0 AND state <> 1 LIMIT ?";
constexpr const char* kBrief =
    "SELECT d.state, e.type FROM deliveries d CROSS JOIN events e ON e.tenant = ?1"
    " AND e.sequence = d.sequence WHERE d.webhook = ?2 AND d.sequence = ?3";
// Larger sets are found by reading along the list.
constexpr std::int64_t kSortedMax = 2'000;
constexpr const char* kNextDue =
    "SELECT due_at FROM deliveries INDEXED BY deliveries_undelivered"
    " WHERE webhook = ? AND state = 0 AND state <> 1 AND due_at > ? ORDER BY due_at LIMIT 1";

constexpr const char* kNthDue =
    "SELECT 1 FROM deliveries INDEXED BY deliveries_undelivered"
    " WHERE webhook = ? AND state = 0 AND state <> 1 AND due_at <= ? LIMIT 1 OFFSET ?";

constexpr const char* kInsertPending =
    "INSERT INTO deliveries (webhook, sequence, state, due_at, created_at)"
    " VALUES (?1, ?2, 0, ?3, ?3) ON CONFLICT (webhook, sequence) DO NOTHING";
constexpr const char* kInsertClosed =
    "INSERT INTO deliveries (webhook, sequence, state, created_at, closed_at)"
    " VALUES (?1, ?2, ?4, ?3, ?3) ON CONFLICT (webhook, sequence) DO NOTHING";
constexpr const char* kRequeue =
    "UPDATE deliveries SET state = 0, attempts = 0, due_at = ?3, closed_at = NULL"
    " WHERE webhook = ?1 AND sequence = ?2";
constexpr const char* kRestartPending =
    "UPDATE deliveries INDEXED BY deliveries_undelivered SET due_at = min(due_at, ?2), attempts = 0"
    " WHERE webhook = ?1 AND state = 0 AND state <> 1 AND (due_at > ?2 OR attempts > 0)";
constexpr const char* kClosePending =
    "UPDATE deliveries INDEXED BY deliveries_undelivered SET state = 2, due_at = NULL, closed_at = "
    "?2"
    " WHERE webhook = ?1 AND state = 0 AND state <> 1";

constexpr const char* kGiveUp =
    "UPDATE deliveries SET state = 2, due_at = NULL, closed_at = ?3"
    " WHERE webhook = ?1 AND sequence = ?2 AND state = 0";

constexpr const char* kAttempts =
    "SELECT attempt, at, duration_ms, status, fault, response, signed_at, signatures, headers"
    " FROM delivery_attempts"
    " WHERE webhook = ? AND sequence = ? ORDER BY attempt";
constexpr const char* kInsertAttempt =
    "INSERT INTO delivery_attempts (webhook, sequence, attempt, at, duration_ms, status, fault,"
    " response, signed_at, signatures, headers) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";
constexpr const char* kUpdateDelivery =
    "UPDATE deliveries SET state = ?3, attempts = ?4, tries = ?5, due_at = ?6, closed_at = ?7"
    " WHERE webhook = ?1 AND sequence = ?2";

constexpr const char* kWebhooksOf = "SELECT webhook FROM webhooks WHERE tenant = ?";
constexpr const char* kOldest =
    "SELECT d.sequence, (SELECT count(*) FROM delivery_attempts a"
    "  WHERE a.webhook = d.webhook AND a.sequence = d.sequence),"
    " (SELECT ifnull(sum(ifnull(length(a.response), 0) + ifnull(length(a.signatures), 0)"
    "  + ifnull(length(a.headers), 0)), 0) FROM delivery_attempts a"
    "  WHERE a.webhook = d.webhook AND a.sequence = d.sequence)"
    " FROM deliveries d WHERE d.webhook = ? AND d.sequence < ? AND d.state <> 0"
    " AND d.created_at < ? ORDER BY d.sequence LIMIT ?";
constexpr const char* kDrop = "DELETE FROM deliveries WHERE webhook = ? AND sequence = ?";

static_assert(stored(DeliveryState::pending) == 0);
static_assert(stored(DeliveryState::delivered) == 1);
static_assert(stored(DeliveryState::dead) == 2);

/// nullopt if most or too many deliveries are in this state.
std::optional<KeySource> in_state(Connection& db, KeyWalk& walk, std::int64_t webhook,
                                  DeliveryState state) {
  if (state == DeliveryState::delivered) return std::nullopt;
  if (state != DeliveryState::pending) return walk.along(kClosed, webhook, state);
  auto pending = integers(db, kPending, webhook, kSortedMax);
  walk.spend(static_cast<std::int64_t>(pending.size()));
  if (pending.size() == kSortedMax) return std::nullopt;
  return walk.known(std::move(pending));
}

struct Droppable {
  std::int64_t sequence = 0;
  std::int64_t bytes = 0;
};

std::vector<Droppable> oldest(Query&& query) {
  std::vector<Droppable> out;
  while (query.step()) {
    const std::int64_t attempts = query.integer(1) * row_bytes::kAttempt + query.integer(2);
    out.push_back({query.integer(0), row_bytes::kDelivery + attempts});
  }
  return out;
}

}  // namespace

RowPage<DeliveryRow> list_deliveries(Connection& db, const Tenant& tenant, std::int64_t webhook,
                                     const DeliveryFilter& filter, const PageAt& page) {
  KeyWalk walk(db, page);
  std::vector<KeySources> filters{{walk.along(kOfWebhook, webhook)}};
  if (filter.state) {
    if (auto some = in_state(db, walk, webhook, *filter.state)) filters.push_back({*some});
  }
  if (filter.type) {
    if (auto rare = events_of_rare_type(walk, tenant, *filter.type)) filters.push_back({*rare});
  }
  const auto fits = [&](std::int64_t sequence) {
    walk.spend(1);
    Query q(db, kBrief, tenant.key, webhook, sequence);
    return q.step() && (!filter.state || *filter.state == q.enumeration<DeliveryState>(0)) &&
           (!filter.type || *filter.type == q.enumeration<EventType>(1));
  };
  return walk.rows(filters, fits, [&](std::int64_t sequence) {
    return *find_delivery_at(db, tenant, webhook, sequence);
  });
}

std::optional<DeliveryRow> find_delivery_at(Connection& db, const Tenant& tenant,
                                            std::int64_t webhook, std::int64_t sequence) {
  return first_row<DeliveryRow>(db, kAt, kDeliveryColumns, tenant.key, webhook, sequence);
}

std::optional<DeliveryRow> find_delivery(Connection& db, const Tenant& tenant, std::int64_t webhook,
                                         EventId id) {
  const auto event = find_event(db, tenant, id);
  return event ? find_delivery_at(db, tenant, webhook, event->sequence) : std::nullopt;
}

std::vector<DeliveryRow> due_deliveries(Connection& db, const Tenant& tenant, std::int64_t webhook,
                                        Timestamp now, int limit) {
  return all_rows<DeliveryRow>(Query(db, kDue.c_str(), tenant.key, webhook, now, limit),
                               kDeliveryColumns);
}

bool are_due(Connection& db, std::int64_t webhook, Timestamp now, int count) {
  return Query(db, kNthDue, webhook, now, count - 1).step();
}

std::optional<Timestamp> next_delivery_due(Connection& db, std::int64_t webhook, Timestamp now) {
  return first_time(db, kNextDue, webhook, now);
}

void insert_delivery(WriteTx& tx, const Tenant& tenant, std::int64_t webhook, std::int64_t sequence,
                     DeliveryState state) {
  if (state == DeliveryState::pending) {
    tx.db().run(kInsertPending, webhook, sequence, tx.now());
  } else {
    tx.db().run(kInsertClosed, webhook, sequence, tx.now(), state);
  }
  if (tx.db().changes() == 1) tx.quotas().add_bytes(tenant.key, row_bytes::kDelivery);
}

void requeue_delivery(WriteTx& tx, std::int64_t webhook, std::int64_t sequence) {
  tx.db().run(kRequeue, webhook, sequence, tx.now());
}

void restart_deliveries(WriteTx& tx, std::int64_t webhook) {
  tx.db().run(kRestartPending, webhook, tx.now());
}

void close_pending_deliveries(WriteTx& tx, std::int64_t webhook) {
  tx.db().run(kClosePending, webhook, tx.now());
}

void give_up_delivery(WriteTx& tx, std::int64_t webhook, std::int64_t sequence) {
  tx.db().run(kGiveUp, webhook, sequence, tx.now());
}

std::vector<DeliveryAttempt> list_delivery_attempts(Connection& db, std::int64_t webhook,
                                                    std::int64_t sequence) {
  std::vector<DeliveryAttempt> out;
  Query q(db, kAttempts, webhook, sequence);
  const auto bytes = [&](int column) { return q.is_null(column) ? std::string() : q.blob(column); };
  while (q.step()) {
    out.push_back({static_cast<int>(q.integer(0)), q.time(1), q.integer(2), q.optional_integer(3),
                   q.optional_text(4), bytes(5), q.optional_time(6), q.optional_text(7), bytes(8)});
  }
  return out;
}

void record_delivery_attempt(WriteTx& tx, const Tenant& tenant, const DeliveryRow& delivery,
                             const DeliveryAttempt& attempt, DeliveryState state,
                             std::optional<Timestamp> due_at, Series series) {
  DeliveryAttempt kept = attempt;
  if (!tx.check_quota(tenant, Quota::file_bytes)) {
    kept.response.clear();
    kept.response_headers.clear();
    kept.signed_at.reset();
    kept.signatures.reset();
  }
  const auto blob = [](const std::string& bytes) {
    return bytes.empty() ? std::nullopt : std::optional(Blob{bytes});
  };
  const std::size_t length = kept.response.size() + kept.response_headers.size() +
                             (kept.signatures ? kept.signatures->size() : 0);
  tx.quotas().add_bytes(tenant.key, row_bytes::kAttempt + static_cast<std::int64_t>(length));
  tx.db().run(kInsertAttempt, delivery.webhook, delivery.sequence, delivery.tries + 1, kept.at,
              kept.duration_ms, kept.status, kept.fault, blob(kept.response), kept.signed_at,
              kept.signatures, blob(kept.response_headers));
  std::optional<Timestamp> closed_at;
  if (state != DeliveryState::pending) closed_at = tx.now();
  const int attempts = delivery.attempts + (series == Series::current ? 1 : 0);
  tx.db().run(kUpdateDelivery, delivery.webhook, delivery.sequence, state, attempts,
              delivery.tries + 1, due_at, closed_at);
}

int drop_deliveries(WriteTx& tx, const Tenant& tenant, Timestamp before, int limit) {
  const std::int64_t end = first_sequence_since(tx.db(), tenant, before);
  int dropped = 0;
  for (const std::int64_t webhook : integers(tx.db(), kWebhooksOf, tenant.key)) {
    for (const Droppable& old :
         oldest(Query(tx.db(), kOldest, webhook, end, before, limit - dropped))) {
      tx.db().run(kDrop, webhook, old.sequence);
      tx.quotas().add_bytes(tenant.key, -old.bytes);
      ++dropped;
    }
    if (dropped >= limit) break;
  }
  return dropped;
}

}  // namespace coffer::store
