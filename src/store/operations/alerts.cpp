#include "store/operations/alerts.h"

#include "base/check.h"

namespace coffer::store {
namespace {

#define ALERT_COLUMNS \
  "a.alert, a.id, a.count, a.began_at, a.condition, a.opens_at, a.told_at, a.gone_at, a.closed_at"
constexpr const char* kNewest = "SELECT " ALERT_COLUMNS
                                " FROM alerts a INDEXED BY alerts_of_condition"
                                " WHERE a.condition = ? ORDER BY a.alert DESC LIMIT 1";
constexpr const char* kByKey = "SELECT " ALERT_COLUMNS " FROM alerts a WHERE a.alert = ?";
#define MESSAGE_COLUMNS                                                                  \
  ALERT_COLUMNS                                                                          \
  ", m.message, m.id, m.kind, m.channel, m.target, m.count, m.oldest_at, m.at, m.state," \
  " m.attempts, m.due_at, m.closed_at, m.result"
constexpr const char* kDue =
    "SELECT " MESSAGE_COLUMNS
    " FROM alert_messages m INDEXED BY alert_messages_waiting"
    " CROSS JOIN alerts a ON a.alert = m.alert"
    " WHERE m.state = 0 AND m.due_at <= ? AND NOT EXISTS (SELECT 1 FROM alert_messages b"
    " INDEXED BY alert_messages_of_alert WHERE b.alert = m.alert AND b.channel = m.channel"
    " AND b.state = 0 AND b.message < m.message) ORDER BY m.due_at, m.message LIMIT 1";
constexpr const char* kOfAlert =
    "SELECT " MESSAGE_COLUMNS
    " FROM alert_messages m CROSS JOIN alerts a ON a.alert = m.alert WHERE m.alert = ?"
    " ORDER BY m.message";
#undef MESSAGE_COLUMNS
#undef ALERT_COLUMNS

constexpr const char* kUnclosed =
    "SELECT alert FROM alerts INDEXED BY alerts_unclosed WHERE condition = ? AND closed_at IS NULL";
constexpr const char* kLast =
    "SELECT alert FROM alerts INDEXED BY alerts_of_condition WHERE condition = ?"
    " ORDER BY alert DESC LIMIT 1";
constexpr const char* kWatch =
    "INSERT INTO alerts (id, condition, count, began_at, opens_at) VALUES (?, ?, ?, ?, ?)";
constexpr const char* kForget = "DELETE FROM alerts WHERE alert = ?";
constexpr const char* kTell = "UPDATE alerts SET told_at = ?2, count = ?3 WHERE alert = ?1";
constexpr const char* kGone = "UPDATE alerts SET gone_at = ?2 WHERE alert = ?1";
constexpr const char* kClose = "UPDATE alerts SET closed_at = ?2 WHERE alert = ?1";
constexpr const char* kDrop =
    "DELETE FROM alerts INDEXED BY alerts_closed WHERE closed_at IS NOT NULL AND closed_at < ?";
constexpr const char* kCountOpen =
    "SELECT count(*) FROM alerts INDEXED BY alerts_unclosed"
    " WHERE closed_at IS NULL AND told_at IS NOT NULL";
constexpr KeyIndex kAlerts = COFFER_KEY_INDEX("alert", "alerts", "true");

constexpr const char* kWaits =
    "SELECT 1 FROM alert_messages INDEXED BY alert_messages_of_alert"
    " WHERE alert = ? AND channel = ? AND state = 0";
constexpr const char* kInsertMessage =
    "INSERT INTO alert_messages (id, alert, kind, channel, target, count, oldest_at, at, due_at)"
    " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?8)";
constexpr const char* kOpenAttempt =
    "UPDATE alert_messages SET attempts = attempts + 1, due_at = ?2"
    " WHERE message = ?1 AND state = 0";
constexpr const char* kCloseAttempt =
    "UPDATE alert_messages SET state = ?2, closed_at = ?3, result = ?4"
    " WHERE message = ?1 AND state = 0";
constexpr const char* kHurry =
    "UPDATE alert_messages INDEXED BY alert_messages_waiting SET due_at = ?2"
    " WHERE state = 0 AND due_at > ?2 AND channel = ?1";
static_assert(stored(AlertMessageState::waiting) == 0);

AlertRow read_alert(const Query& q) {
  return {q.integer(0),
          q.uuid(1),
          q.integer(2),
          q.time(3),
          {q.enumeration<AlertCondition>(4), q.time(5), q.optional_time(6), q.optional_time(7),
           q.optional_time(8)}};
}

AlertMessage read_message(const Query& q) {
  AlertMessage out;
  out.alert = read_alert(q);
  out.key = q.integer(9);
  out.id = q.uuid(10);
  out.kind = q.enumeration<AlertKind>(11);
  out.channel = q.enumeration<AlertChannel>(12);
  out.target = q.text(13);
  out.count = q.integer(14);
  out.oldest_at = q.optional_time(15);
  out.at = q.time(16);
  out.state = q.enumeration<AlertMessageState>(17);
  out.attempts = static_cast<int>(q.integer(18));
  out.due_at = q.time(19);
  out.closed_at = q.optional_time(20);
  out.result = q.optional_text(21);
  return out;
}

}  // namespace

std::vector<AlertState> newest_alert_states(Connection& db) {
  std::vector<AlertState> out;
  for (std::size_t i = 0; i < terms<AlertCondition>().size(); ++i) {
    Query q(db, kNewest, static_cast<AlertCondition>(i));
    if (q.step()) out.push_back(read_alert(q).state);
  }
  return out;
}

void apply_alert_change(WriteTx& tx, const AlertChange& change, const Uuid& id) {
  Connection& db = tx.db();
  const Finding& finding = change.finding;
  if (change.step == AlertStep::watch) {
    db.run(kWatch, id, finding.condition, finding.count, tx.now(), change.opens_at);
    return;
  }
  const auto alert = first_integer(db, kUnclosed, finding.condition);
  COFFER_CHECK(alert.has_value());
  switch (change.step) {
    case AlertStep::watch:
      return;
    case AlertStep::forget:
      return db.run(kForget, *alert);
    case AlertStep::open:
    case AlertStep::repeat:
      return db.run(kTell, *alert, tx.now(), finding.count);
    case AlertStep::miss:
      return db.run(kGone, *alert, tx.now());
    case AlertStep::recover:
      return db.run(kGone, *alert, std::optional<Timestamp>());
    case AlertStep::close:
      return db.run(kClose, *alert, tx.now());
  }
}

void drop_alerts(WriteTx& tx, Timestamp closed_before) { tx.db().run(kDrop, closed_before); }

std::int64_t count_open_alerts(Connection& db) { return first_integer(db, kCountOpen).value_or(0); }

AlertPage newest_alerts(Connection& db, std::optional<bool> open, const NewestAt& at) {
  const auto row_of = [&](std::int64_t key) {
    Query q(db, kByKey, key);
    COFFER_CHECK(q.step());
    return read_alert(q);
  };
  RowBudget budget;
  const KeyWalk walk(db, Order::falling, budget);
  KeySets sets;
  sets.push_back(walk.of(kAlerts));
  const KeyPage keys = newest_keys(walk, sets, at, [&](std::int64_t key) {
    budget.spend(1);
    const AlertState state = row_of(key).state;
    return state.told_at && (!open || *open == !state.closed_at);
  });
  AlertPage out{{}, keys.next, keys.cut_short};
  for (const std::int64_t key : keys.keys) out.rows.push_back(row_of(key));
  return out;
}

void insert_alert_message(WriteTx& tx, const Uuid& id, AlertKind kind, AlertChannel channel,
                          std::string_view target, const Finding& finding) {
  const auto alert = first_integer(tx.db(), kLast, finding.condition);
  COFFER_CHECK(alert.has_value());
  if (kind == AlertKind::continues && first_integer(tx.db(), kWaits, *alert, channel)) return;
  tx.db().run(kInsertMessage, id, *alert, kind, channel, target, finding.count, finding.since,
              tx.now());
}

std::optional<AlertMessage> due_alert_message(Connection& db, Timestamp now) {
  Query q(db, kDue, now);
  return q.step() ? std::optional(read_message(q)) : std::nullopt;
}

std::vector<AlertMessage> messages_of(Connection& db, std::int64_t alert) {
  std::vector<AlertMessage> out;
  Query q(db, kOfAlert, alert);
  while (q.step()) out.push_back(read_message(q));
  return out;
}

bool open_alert_attempt(WriteTx& tx, std::int64_t message, Timestamp due_at) {
  tx.db().run(kOpenAttempt, message, due_at);
  return tx.db().changes() == 1;
}

void close_alert_attempt(WriteTx& tx, const AlertMessage& message, AlertMessageState state,
                         std::string_view result) {
  std::optional<Timestamp> closed_at;
  if (state != AlertMessageState::waiting) closed_at = tx.now();
  tx.db().run(kCloseAttempt, message.key, state, closed_at, result);
  if (state == AlertMessageState::sent) tx.db().run(kHurry, message.channel, tx.now());
}

}  // namespace coffer::store
