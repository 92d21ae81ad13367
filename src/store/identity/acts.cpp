#include "store/identity/acts.h"

#include "base/check.h"
#include "store/journal.h"
#include "store/lists/key_walk.h"

namespace coffer::store {
namespace {

constexpr const char* kLast = "SELECT act, link FROM acts ORDER BY act DESC LIMIT 1";
constexpr const char* kInsert =
    "INSERT INTO acts (act, at, actor, command, detail, outcome_of, outcome, link)"
    " VALUES (?, ?, ?, ?, ?, ?, ?, ?)";
constexpr const char* kAfter =
    "SELECT act, at, actor, command, detail, outcome_of, outcome, link FROM acts WHERE act > ?"
    " ORDER BY act LIMIT ?";
constexpr KeyIndex kActs = COFFER_KEY_INDEX("act", "acts", "outcome_of IS NULL");
constexpr const char* kBrief = "SELECT actor, command FROM acts WHERE act = ?";
constexpr const char* kView =
    "SELECT a.act, a.at, a.actor, a.command, a.detail, o.outcome, o.detail FROM acts a"
    " LEFT JOIN acts o ON o.outcome_of = a.act WHERE a.act = ?";

std::string canonical(std::int64_t act, Timestamp at, const NewAct& row) {
  std::string out = std::to_string(act) + '|' + std::to_string(at.ms) + '|';
  out += (row.outcome_of ? std::to_string(*row.outcome_of) : "-") + '|';
  out += (row.outcome_of ? row.outcome : "-") + '\n';
  return out + row.actor + '\n' + row.command + '\n' + row.detail + '\n';
}

}  // namespace

std::int64_t append_act(WriteTx& tx, const NewAct& row) {
  std::int64_t act = 1;
  std::string link = genesis_link();
  if (Query last(tx.db(), kLast); last.step()) {
    act = last.integer(0) + 1;
    link = last.blob(1);
  }
  link = next_link(link, canonical(act, tx.now(), row));
  Query(tx.db(), kInsert, act, tx.now(), row.actor, row.command, row.detail, row.outcome_of,
        row.outcome_of ? std::optional(row.outcome) : std::nullopt, Blob{link})
      .run();
  return act;
}

RowPage<ActView> list_acts(Connection& db, const ActFilter& filter) {
  RowBudget budget;
  const KeyWalk walk(db, Order::falling, budget);
  const auto fits = [&](std::int64_t act) {
    budget.spend(1);
    Query q(db, kBrief, act);
    COFFER_CHECK(q.step());
    return (!filter.actor || *filter.actor == q.text(0)) &&
           (!filter.command || *filter.command == q.text(1));
  };
  const PageAt page{filter.before, false, filter.limit};
  const auto found =
      walk.read(one(walk.of(kActs)), {.beyond = page.key, .limit = page.limit}, fits);
  return load_page<ActView>(page, found, [&](std::int64_t act) {
    Query q(db, kView, act);
    COFFER_CHECK(q.step());
    return ActView{q.integer(0), q.time(1),          q.text(2),         q.text(3),
                   q.text(4),    q.optional_text(5), q.optional_text(6)};
  });
}

ChainPiece follow_acts(Connection& db, ChainPosition& from, std::int64_t limit) {
  ChainPiece out;
  Query query(db, kAfter, from.row == 0 ? INT64_MIN : from.row, limit);
  for (; query.step(); ++out.rows) {
    const std::int64_t act = query.integer(0);
    if (act != from.row + 1) {
      out.fault = "act " + std::to_string(from.row + 1) + " is missing";
      return out;
    }
    const NewAct row{query.text(2), query.text(3), query.text(4), query.optional_integer(5),
                     query.optional_text(6).value_or("")};
    from = {act, next_link(from.link, canonical(act, query.time(1), row))};
    if (from.link == query.blob(7)) continue;
    out.fault = "act " + std::to_string(act) + " does not continue the chain";
    return out;
  }
  out.end = out.rows < limit;
  return out;
}

std::string verify_acts(Connection& db) {
  ChainPosition from;
  return follow_acts(db, from, INT64_MAX).fault;
}

}  // namespace coffer::store
