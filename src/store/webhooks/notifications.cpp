#include "store/webhooks/notifications.h"

namespace coffer::store {
namespace {

constexpr const char* kInsert =
    "INSERT INTO notifications (payment, channel, recipient, state, due_at, closed_at)"
    " VALUES (?, ?, ?, ?, ?, ?)";
#define NOTIFICATION_COLUMNS                                                                    \
  "SELECT n.notification, n.payment, p.id, a.id, a.name, t.environment, n.channel,"             \
  " n.recipient, n.state, n.attempts, n.due_at, n.closed_at FROM notifications n"               \
  " CROSS JOIN payments p ON p.payment = n.payment CROSS JOIN tenants t ON t.tenant = p.tenant" \
  " CROSS JOIN associations a ON a.association = t.association"
constexpr const char* kDue = NOTIFICATION_COLUMNS
    " WHERE n.state = 0 AND n.due_at <= ? ORDER BY n.due_at, n.notification LIMIT ?";
constexpr const char* kByKey = NOTIFICATION_COLUMNS " WHERE n.notification = ?";
#undef NOTIFICATION_COLUMNS
constexpr const char* kNextDue =
    "SELECT due_at FROM notifications WHERE state = 0 ORDER BY due_at LIMIT 1";
constexpr const char* kOpen =
    "UPDATE notifications SET attempts = attempts + 1, due_at = ?2"
    " WHERE notification = ?1 AND state = 0";
constexpr const char* kClose =
    "UPDATE notifications SET state = ?2, closed_at = ?3 WHERE notification = ?1 AND state = 0";

static_assert(stored(NotificationState::waiting) == 0);

std::vector<NotificationRow> all_rows(Query&& q) {
  std::vector<NotificationRow> out;
  while (q.step()) {
    NotificationRow row;
    row.key = q.integer(0);
    row.payment = q.integer(1);
    row.payment_id = q.id<PaymentId>(2);
    row.association = q.id<AssociationId>(3);
    row.association_name = q.text(4);
    row.environment = q.enumeration<Environment>(5);
    row.channel = q.enumeration<NotificationChannel>(6);
    row.recipient = q.text(7);
    row.state = q.enumeration<NotificationState>(8);
    row.attempts = static_cast<int>(q.integer(9));
    row.due_at = q.time(10);
    row.closed_at = q.optional_time(11);
    out.push_back(std::move(row));
  }
  return out;
}

}  // namespace

void insert_notification(WriteTx& tx, std::int64_t payment, NotificationChannel channel,
                         std::string_view recipient, NotificationState state) {
  std::optional<Timestamp> closed_at;
  if (state != NotificationState::waiting) closed_at = tx.now();
  tx.db().run(kInsert, payment, channel, recipient, state, tx.now(), closed_at);
}

std::vector<NotificationRow> due_notifications(Connection& db, Timestamp now, int limit) {
  return all_rows(Query(db, kDue, now, limit));
}

std::optional<Timestamp> next_notification_due(Connection& db) {
  Query q(db, kNextDue);
  return q.step() ? std::optional(q.time(0)) : std::nullopt;
}

bool open_notification_attempt(WriteTx& tx, std::int64_t notification, Timestamp due_at) {
  tx.db().run(kOpen, notification, due_at);
  return tx.db().changes() == 1;
}

void close_notification(WriteTx& tx, std::int64_t notification, NotificationState state) {
  tx.db().run(kClose, notification, state, tx.now());
}

std::optional<NotificationRow> find_notification_by_key(Connection& db, std::int64_t notification) {
  auto rows = all_rows(Query(db, kByKey, notification));
  return rows.empty() ? std::nullopt : std::optional(std::move(rows.front()));
}

}  // namespace coffer::store
