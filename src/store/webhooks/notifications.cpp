#include "store/webhooks/notifications.h"

#include "store/rows/columns.h"

namespace coffer::store {
namespace {

constexpr const char* kInsertNotification =
    "INSERT INTO notifications (payment, channel, recipient, state, due_at, closed_at)"
    " VALUES (?, ?, ?, ?, ?, ?)";
constexpr Column<NotificationRow> kNotificationColumns[] = {
    joined<&NotificationRow::key>("n.notification"),
    joined<&NotificationRow::payment>("n.payment"),
    joined<&NotificationRow::payment_id>("p.id"),
    joined<&NotificationRow::association>("a.id"),
    joined<&NotificationRow::association_name>("a.name"),
    joined<&NotificationRow::environment>("t.environment"),
    joined<&NotificationRow::channel>("n.channel"),
    joined<&NotificationRow::recipient>("n.recipient"),
    joined<&NotificationRow::state>("n.state"),
    joined<&NotificationRow::attempts>("n.attempts"),
    joined<&NotificationRow::due_at>("n.due_at"),
    joined<&NotificationRow::closed_at>("n.closed_at"),
};
const std::string kSelectNotification =
    select(kNotificationColumns) +
    " FROM notifications n CROSS JOIN payments p ON p.payment = n.payment"
    " CROSS JOIN tenants t ON t.tenant = p.tenant"
    " CROSS JOIN associations a ON a.association = t.association";
const std::string kDue =
    kSelectNotification +
    " WHERE n.state = 0 AND n.due_at <= ? ORDER BY n.due_at, n.notification LIMIT ?";
const std::string kNotificationByKey = kSelectNotification + " WHERE n.notification = ?";
constexpr const char* kNextDue =
    "SELECT due_at FROM notifications WHERE state = 0 ORDER BY due_at LIMIT 1";
constexpr const char* kOpen =
    "UPDATE notifications SET attempts = attempts + 1, due_at = ?2"
    " WHERE notification = ?1 AND state = 0";
constexpr const char* kClose =
    "UPDATE notifications SET state = ?2, closed_at = ?3 WHERE notification = ?1 AND state = 0";

static_assert(stored(NotificationState::waiting) == 0);

}  // namespace

void insert_notification(WriteTx& tx, std::int64_t payment, NotificationChannel channel,
                         std::string_view recipient, NotificationState state) {
  std::optional<Timestamp> closed_at;
  if (state != NotificationState::waiting) closed_at = tx.now();
  tx.db().run(kInsertNotification, payment, channel, recipient, state, tx.now(), closed_at);
}

std::vector<NotificationRow> due_notifications(Connection& db, Timestamp now, int limit) {
  return all_rows<NotificationRow>(Query(db, kDue.c_str(), now, limit), kNotificationColumns);
}

std::optional<Timestamp> next_notification_due(Connection& db) { return first_time(db, kNextDue); }

bool open_notification_attempt(WriteTx& tx, std::int64_t notification, Timestamp due_at) {
  tx.db().run(kOpen, notification, due_at);
  return tx.db().changes() == 1;
}

void close_notification(WriteTx& tx, std::int64_t notification, NotificationState state) {
  tx.db().run(kClose, notification, state, tx.now());
}

std::optional<NotificationRow> find_notification_by_key(Connection& db, std::int64_t notification) {
  return first_row<NotificationRow>(db, kNotificationByKey, kNotificationColumns, notification);
}

}  // namespace coffer::store
