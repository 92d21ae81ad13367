#include "store/identity/acts.h"

#include "store/journal.h"

namespace coffer::store {
namespace {

constexpr const char* kLast = "SELECT act, link FROM acts ORDER BY act DESC LIMIT 1";
constexpr const char* kInsert =
    "INSERT INTO acts (act, at, actor, command, detail, outcome_of, outcome, link)"
    " VALUES (?, ?, ?, ?, ?, ?, ?, ?)";
constexpr const char* kAfter =
    "SELECT act, at, actor, command, detail, outcome_of, outcome, link FROM acts WHERE act > ?"
    " ORDER BY act LIMIT ?";
constexpr const char* kList =
    "SELECT a.act, a.at, a.actor, a.command, a.detail, o.outcome, o.detail FROM acts a"
    " LEFT JOIN acts o ON o.outcome_of = a.act"
    " WHERE a.outcome_of IS NULL AND a.act < ?1 AND (?2 IS NULL OR a.actor = ?2)"
    " AND (?3 IS NULL OR a.command = ?3) ORDER BY a.act DESC LIMIT ?4";

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

std::vector<ActView> list_acts(Connection& db, const ActFilter& filter) {
  std::vector<ActView> out;
  Query query(db, kList, filter.before.value_or(INT64_MAX), filter.actor, filter.command,
              filter.limit);
  while (query.step()) {
    out.push_back({query.integer(0), query.time(1), query.text(2), query.text(3), query.text(4),
                   query.optional_text(5), query.optional_text(6)});
  }
  return out;
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
