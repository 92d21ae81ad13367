#include "store/operations/messages.h"

#include "base/check.h"
#include "store/rows/columns.h"
#include "store/rows/key_walk.h"

namespace coffer::store {
namespace {

constexpr Column<Message> kMessage[] = {
    joined<&Message::key>("m.message"),         joined<&Message::alert>("m.alert"),
    joined<&Message::payment>("m.payment"),     joined<&Message::id>("m.id"),
    joined<&Message::kind>("m.kind"),           joined<&Message::channel>("m.channel"),
    joined<&Message::recipient>("m.recipient"), joined<&Message::count>("m.count"),
    joined<&Message::oldest_at>("m.oldest_at"), joined<&Message::at>("m.at"),
    joined<&Message::state>("m.state"),         joined<&Message::attempts>("m.attempts"),
    joined<&Message::due_at>("m.due_at"),       joined<&Message::closed_at>("m.closed_at"),
    joined<&Message::result>("m.result"),
};
constexpr Column<Notification> kPayment[] = {
    joined<&Notification::payment_id>("p.id"),
    joined<&Notification::association>("a.id"),
    joined<&Notification::association_name>("a.name"),
    joined<&Notification::environment>("t.environment"),
};
const std::string kMessages = select(kMessage) + " FROM messages m";
const std::string kAlertDue =
    kMessages +
    " INDEXED BY alert_messages_waiting WHERE m.state = 0 AND m.alert IS NOT NULL"
    " AND m.due_at <= ? AND NOT EXISTS (SELECT 1 FROM messages b"
    " INDEXED BY messages_of_alert WHERE b.alert = m.alert AND b.channel = m.channel"
    " AND b.state = 0 AND b.message < m.message) ORDER BY m.due_at, m.message LIMIT 1";
const std::string kNotificationDue =
    kMessages +
    " INDEXED BY notifications_waiting WHERE m.state = 0 AND m.payment IS NOT NULL"
    " AND m.due_at <= ? ORDER BY m.due_at, m.message LIMIT 1";
constexpr const char* kNextDue =
    "SELECT due_at FROM messages INDEXED BY notifications_waiting"
    " WHERE state = 0 AND payment IS NOT NULL ORDER BY due_at LIMIT 1";
const std::string kOfAlert = kMessages + " WHERE m.alert = ? ORDER BY m.message";
const std::string kNotification =
    select(kMessage, kPayment) +
    " FROM messages m CROSS JOIN payments p ON p.payment = m.payment"
    " CROSS JOIN tenants t ON t.tenant = p.tenant"
    " CROSS JOIN associations a ON a.association = t.association WHERE m.message = ?";

constexpr const char* kLastAlert =
    "SELECT alert FROM alerts INDEXED BY alerts_of_condition WHERE condition = ?"
    " ORDER BY alert DESC LIMIT 1";
constexpr const char* kWaits =
    "SELECT 1 FROM messages INDEXED BY messages_of_alert"
    " WHERE alert = ? AND channel = ? AND state = 0";
constexpr const char* kInsertAlertMessage =
    "INSERT INTO messages (id, alert, kind, channel, recipient, count, oldest_at, at, due_at)"
    " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?8)";
constexpr const char* kInsertNotification =
    "INSERT INTO messages (payment, channel, recipient, state, at, due_at, closed_at)"
    " VALUES (?1, ?2, ?3, ?4, ?5, ?5, ?6)";
constexpr const char* kOpenAttempt =
    "UPDATE messages SET attempts = attempts + 1, due_at = ?2 WHERE message = ?1 AND state = 0";
constexpr const char* kCloseAttempt =
    "UPDATE messages SET state = ?2, closed_at = ?3, result = ?4 WHERE message = ?1 AND state = 0";
constexpr const char* kHurry =
    "UPDATE messages INDEXED BY alert_messages_waiting SET due_at = ?2"
    " WHERE state = 0 AND alert IS NOT NULL AND due_at > ?2 AND channel = ?1";
static_assert(stored(MessageState::waiting) == 0);

std::optional<Message> first_due(Connection& db, const std::string& sql, Timestamp now) {
  return first_row<Message>(db, sql, kMessage, now);
}

}  // namespace

void insert_alert_message(WriteTx& tx, const Uuid& id, AlertKind kind, MessageChannel channel,
                          std::string_view target, const Finding& finding) {
  const auto alert = first_integer(tx.db(), kLastAlert, finding.condition);
  COFFER_CHECK(alert.has_value());
  if (kind == AlertKind::continues && first_integer(tx.db(), kWaits, *alert, channel)) return;
  tx.db().run(kInsertAlertMessage, id, *alert, kind, channel, target, finding.count, finding.since,
              tx.now());
}

void insert_notification(WriteTx& tx, std::int64_t payment, MessageChannel channel,
                         std::string_view recipient, MessageState state) {
  std::optional<Timestamp> closed_at;
  if (state != MessageState::waiting) closed_at = tx.now();
  tx.db().run(kInsertNotification, payment, channel, recipient, state, tx.now(), closed_at);
}

std::optional<Message> due_message(Connection& db, Timestamp now) {
  auto about_alert = first_due(db, kAlertDue, now);
  return about_alert ? std::move(about_alert) : first_due(db, kNotificationDue, now);
}

std::optional<Timestamp> next_notification_due(Connection& db) { return first_time(db, kNextDue); }

bool open_message_attempt(WriteTx& tx, std::int64_t message, Timestamp due_at) {
  tx.db().run(kOpenAttempt, message, due_at);
  return tx.db().changes() == 1;
}

void close_message_attempt(WriteTx& tx, const Message& message, MessageState state,
                           std::string_view result) {
  std::optional<Timestamp> closed_at;
  if (state != MessageState::waiting) closed_at = tx.now();
  tx.db().run(kCloseAttempt, message.key, state, closed_at, result);
  // A recipient of a payment says nothing about the others.
  if (message.alert && state == MessageState::sent) tx.db().run(kHurry, message.channel, tx.now());
}

std::vector<Message> messages_of_alert(Connection& db, std::int64_t alert) {
  return all_rows<Message>(Query(db, kOfAlert.c_str(), alert), kMessage);
}

std::optional<Notification> find_notification(Connection& db, std::int64_t message) {
  Query q(db, kNotification.c_str(), message);
  if (!q.step()) return std::nullopt;
  auto out = read_row<Notification>(q, kPayment, std::size(kMessage));
  out.message = read_row<Message>(q, kMessage);
  return out;
}

}  // namespace coffer::store
