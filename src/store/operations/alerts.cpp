#include "store/operations/alerts.h"

#include "base/check.h"
#include "store/rows/columns.h"

namespace coffer::store {
namespace {

constexpr Column<AlertRow> kAlert[] = {
    joined<&AlertRow::key>("a.alert"),
    joined<&AlertRow::id>("a.id"),
    joined<&AlertRow::count>("a.count"),
    joined<&AlertRow::began_at>("a.began_at"),
    joined<&AlertRow::state, &AlertState::condition>("a.condition"),
    joined<&AlertRow::state, &AlertState::opens_at>("a.opens_at"),
    joined<&AlertRow::state, &AlertState::told_at>("a.told_at"),
    joined<&AlertRow::state, &AlertState::gone_at>("a.gone_at"),
    joined<&AlertRow::state, &AlertState::closed_at>("a.closed_at"),
};
const std::string kNewest = select(kAlert) +
                            " FROM alerts a INDEXED BY alerts_of_condition"
                            " WHERE a.condition = ? ORDER BY a.alert DESC LIMIT 1";
const std::string kAlertByKey = select(kAlert) + " FROM alerts a WHERE a.alert = ?";
constexpr Column<AlertMessage> kMessage[] = {
    joined<&AlertMessage::key>("m.message"),
    joined<&AlertMessage::id>("m.id"),
    joined<&AlertMessage::kind>("m.kind"),
    joined<&AlertMessage::channel>("m.channel"),
    joined<&AlertMessage::target>("m.target"),
    joined<&AlertMessage::count>("m.count"),
    joined<&AlertMessage::oldest_at>("m.oldest_at"),
    joined<&AlertMessage::at>("m.at"),
    joined<&AlertMessage::state>("m.state"),
    joined<&AlertMessage::attempts>("m.attempts"),
    joined<&AlertMessage::due_at>("m.due_at"),
    joined<&AlertMessage::closed_at>("m.closed_at"),
    joined<&AlertMessage::result>("m.result"),
};
const std::string kMessages = select(kMessage, kAlert) + " FROM alert_messages m";
const std::string kDue =
    kMessages +
    " INDEXED BY alert_messages_waiting"
    " CROSS JOIN alerts a ON a.alert = m.alert"
    " WHERE m.state = 0 AND m.due_at <= ? AND NOT EXISTS (SELECT 1 FROM alert_messages b"
    " INDEXED BY alert_messages_of_alert WHERE b.alert = m.alert AND b.channel = m.channel"
    " AND b.state = 0 AND b.message < m.message) ORDER BY m.due_at, m.message LIMIT 1";
const std::string kOfAlert =
    kMessages + " CROSS JOIN alerts a ON a.alert = m.alert WHERE m.alert = ? ORDER BY m.message";

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

AlertMessage read_message(const Query& q) {
  auto out = read_row<AlertMessage>(q, kMessage);
  out.alert = read_row<AlertRow>(q, kAlert, std::size(kMessage));
  return out;
}

}  // namespace

std::vector<AlertState> newest_alert_states(Connection& db) {
  std::vector<AlertState> out;
  for (std::size_t i = 0; i < terms<AlertCondition>().size(); ++i) {
    const auto condition = static_cast<AlertCondition>(i);
    const auto row = first_row<AlertRow>(db, kNewest, kAlert, condition);
    if (row) out.push_back(row->state);
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

NewestPage<AlertRow> newest_alerts(Connection& db, std::optional<bool> open, const NewestAt& at) {
  const auto row_of = [&](std::int64_t key) {
    return only_row<AlertRow>(db, kAlertByKey, kAlert, key);
  };
  RowBudget budget;
  const KeyWalk walk(db, Order::falling, budget);
  const auto fits = [&](std::int64_t key) {
    budget.spend(1);
    const AlertState state = row_of(key).state;
    return state.told_at && (!open || *open == !state.closed_at);
  };
  return rows_of(newest_keys(walk, one(walk.of(kAlerts)), at, fits), row_of);
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
  Query q(db, kDue.c_str(), now);
  return q.step() ? std::optional(read_message(q)) : std::nullopt;
}

std::vector<AlertMessage> messages_of(Connection& db, std::int64_t alert) {
  std::vector<AlertMessage> out;
  Query q(db, kOfAlert.c_str(), alert);
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
