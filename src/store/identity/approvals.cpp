#include "store/identity/approvals.h"

#include <limits>

namespace coffer::store {
namespace {

static_assert(stored(ApprovalState::waiting) == 0);
static_assert(stored(ApprovalState::started) == 1);

#define APPROVAL_COLUMNS                                                                    \
  "SELECT a.id, o.id, o.name, a.version, a.command, a.detail, a.sealed_arguments, a.state," \
  " a.requested_at, a.expires_at, a.decided_by, a.decided_at, a.outcome,"                   \
  " o.suspended, o.version, a.approval FROM approvals a"
// A request ends with the suspension and with the version of its operator.
#define FROM_WAITING                                                \
  " INDEXED BY approvals_waiting JOIN operators o USING (operator)" \
  " WHERE a.state = 0 AND a.expires_at > ? AND o.suspended = 0 AND o.version = a.version"
constexpr const char* kFind = APPROVAL_COLUMNS " JOIN operators o USING (operator) WHERE a.id = ?";
constexpr const char* kNewest = APPROVAL_COLUMNS
    " JOIN operators o USING (operator) WHERE a.approval < ? ORDER BY a.approval DESC LIMIT ?";
// Sorts the waiting requests, whose number is limited per operator.
constexpr const char* kWaiting =
    APPROVAL_COLUMNS FROM_WAITING " AND a.approval < ? ORDER BY a.approval DESC LIMIT ?";
constexpr const char* kCountWaiting =
    "SELECT count(*), min(a.requested_at) FROM approvals a" FROM_WAITING;
constexpr const char* kCountOfOperator =
    "SELECT count(*) FROM approvals a" FROM_WAITING " AND o.id = ?";
#undef FROM_WAITING
#undef APPROVAL_COLUMNS
constexpr const char* kInsert =
    "INSERT INTO approvals (id, operator, version, command, detail, sealed_arguments, state,"
    " requested_at, expires_at)"
    " VALUES (?, (SELECT operator FROM operators WHERE id = ?), ?, ?, ?, ?, 0, ?, ?)";
constexpr const char* kForgetEnded =
    "UPDATE approvals INDEXED BY approvals_waiting SET sealed_arguments = NULL"
    " WHERE state = 0 AND sealed_arguments IS NOT NULL AND (expires_at <= ?"
    " OR version <> (SELECT o.version FROM operators o WHERE o.operator = approvals.operator))";
constexpr const char* kDecide =
    "UPDATE approvals SET state = ?, decided_by = ?, decided_at = ?, sealed_arguments = NULL"
    " WHERE id = ? AND state = 0";
constexpr const char* kFinish =
    "UPDATE approvals SET state = ?, outcome = ? WHERE id = ? AND state = 1";

ApprovalRow row_of(const Query& query) {
  ApprovalRow row;
  row.id = query.id<ApprovalId>(0);
  row.operator_id = query.id<OperatorId>(1);
  row.operator_name = query.text(2);
  row.version = query.integer(3);
  row.command = query.text(4);
  row.detail = query.text(5);
  if (!query.is_null(6)) row.sealed_arguments = query.blob(6);
  row.state = query.enumeration<ApprovalState>(7);
  row.requested_at = query.time(8);
  row.expires_at = query.time(9);
  row.decided_by = query.optional_text(10);
  row.decided_at = query.optional_time(11);
  row.outcome = query.optional_text(12);
  row.operator_suspended = query.boolean(13);
  row.operator_version = query.integer(14);
  row.key = query.integer(15);
  return row;
}

std::vector<ApprovalRow> rows_of(Query& query) {
  std::vector<ApprovalRow> out;
  while (query.step()) out.push_back(row_of(query));
  return out;
}

}  // namespace

void insert_approval(WriteTx& tx, const ApprovalRow& row) {
  tx.db().run(kForgetEnded, tx.now());
  tx.db().run(kInsert, row.id, row.operator_id, row.version, row.command, row.detail,
              Blob{row.sealed_arguments}, row.requested_at, row.expires_at);
}

std::optional<ApprovalRow> find_approval(Connection& db, ApprovalId id) {
  Query query(db, kFind, id);
  return query.step() ? std::optional(row_of(query)) : std::nullopt;
}

ApprovalPage list_approvals(Connection& db, std::optional<Timestamp> waiting_at,
                            const NewestAt& at) {
  const std::int64_t before = at.before.value_or(std::numeric_limits<std::int64_t>::max());
  // One more than the page has shows whether another page follows.
  Query query = waiting_at ? Query(db, kWaiting, *waiting_at, before, at.limit + 1)
                           : Query(db, kNewest, before, at.limit + 1);
  ApprovalPage out{rows_of(query), std::nullopt};
  if (out.rows.size() > static_cast<std::size_t>(at.limit)) {
    out.rows.pop_back();
    out.next = out.rows.back().key;
  }
  return out;
}

void decide_approval(WriteTx& tx, ApprovalId id, ApprovalState state, const std::string& by) {
  tx.db().run(kDecide, state, by, tx.now(), id);
}

void finish_approval(WriteTx& tx, ApprovalId id, ApprovalState state,
                     const std::optional<std::string>& outcome) {
  tx.db().run(kFinish, state, outcome, id);
}

WaitingApprovals waiting_approvals(Connection& db, Timestamp now) {
  Query query(db, kCountWaiting, now);
  query.step();
  return {query.integer(0), query.optional_time(1)};
}

std::int64_t count_waiting_approvals(Connection& db, OperatorId id, Timestamp now) {
  Query query(db, kCountOfOperator, now, id);
  query.step();
  return query.integer(0);
}

}  // namespace coffer::store
