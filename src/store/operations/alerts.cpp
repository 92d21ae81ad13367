#include "store/operations/alerts.h"

#include "base/check.h"
#include "store/rows/columns.h"
#include "store/rows/key_walk.h"

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
constexpr const char* kUnclosed =
    "SELECT alert FROM alerts INDEXED BY alerts_unclosed WHERE condition = ? AND closed_at IS NULL";
constexpr const char* kTell = "UPDATE alerts SET told_at = ?2, count = ?3 WHERE alert = ?1";
constexpr const char* kGone = "UPDATE alerts SET gone_at = ?2 WHERE alert = ?1";
constexpr const char* kDrop =
    "DELETE FROM alerts INDEXED BY alerts_closed WHERE closed_at IS NOT NULL AND closed_at < ?";
constexpr const char* kCountOpen =
    "SELECT count(*) FROM alerts INDEXED BY alerts_unclosed"
    " WHERE closed_at IS NULL AND told_at IS NOT NULL";
constexpr KeyIndex kAlerts = COFFER_KEY_INDEX("alert", "alerts", "true");

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
    db.run("INSERT INTO alerts (id, condition, count, began_at, opens_at) VALUES (?, ?, ?, ?, ?)",
           id, finding.condition, finding.count, tx.now(), change.opens_at);
    return;
  }
  const auto alert = first_integer(db, kUnclosed, finding.condition);
  COFFER_CHECK(alert.has_value());
  switch (change.step) {
    case AlertStep::watch:
      return;
    case AlertStep::forget:
      return db.run("DELETE FROM alerts WHERE alert = ?", *alert);
    case AlertStep::open:
    case AlertStep::repeat:
      return db.run(kTell, *alert, tx.now(), finding.count);
    case AlertStep::miss:
      return db.run(kGone, *alert, tx.now());
    case AlertStep::recover:
      return db.run(kGone, *alert, std::optional<Timestamp>());
    case AlertStep::close:
      return db.run("UPDATE alerts SET closed_at = ?2 WHERE alert = ?1", *alert, tx.now());
  }
}

void drop_alerts(WriteTx& tx, Timestamp closed_before) { tx.db().run(kDrop, closed_before); }

std::int64_t count_open_alerts(Connection& db) { return first_integer(db, kCountOpen).value_or(0); }

RowPage<AlertRow> newest_alerts(Connection& db, std::optional<bool> open, const PageAt& page) {
  KeyWalk walk(db, page);
  const auto row_of = [&](std::int64_t key) { return alert_of(db, key); };
  const auto fits = [&](std::int64_t key) {
    const AlertState state = row_of(key).state;
    return state.told_at && (!open || *open == !state.closed_at);
  };
  return walk.rows({{walk.along(kAlerts)}}, fits, row_of);
}

AlertRow alert_of(Connection& db, std::int64_t key) {
  return only_row<AlertRow>(db, kAlertByKey, kAlert, key);
}

}  // namespace coffer::store
