#include "store/identity/approvals.h"

#include <limits>

#include "store/rows/columns.h"
#include "store/rows/guarded_rows.h"
#include "store/rows/key_walk.h"

namespace coffer::store {
namespace {

static_assert(stored(ApprovalState::waiting) == 0);
static_assert(stored(ApprovalState::started) == 1);

constexpr Column<ApprovalRow> kApprovalColumns[] = {
    joined<&ApprovalRow::key>("a.approval"),
    joined<&ApprovalRow::id>("a.id"),
    joined<&ApprovalRow::operator_id>("o.id"),
    joined<&ApprovalRow::operator_name>("o.name"),
    joined<&ApprovalRow::version>("a.version"),
    joined<&ApprovalRow::command>("a.command"),
    joined<&ApprovalRow::detail>("a.detail"),
    joined_blob<&ApprovalRow::sealed_arguments>("a.sealed_arguments"),
    joined<&ApprovalRow::state>("a.state"),
    joined<&ApprovalRow::requested_at>("a.requested_at"),
    joined<&ApprovalRow::expires_at>("a.expires_at"),
    joined<&ApprovalRow::decided_by>("a.decided_by"),
    joined<&ApprovalRow::decided_at>("a.decided_at"),
    joined<&ApprovalRow::outcome>("a.outcome"),
    joined<&ApprovalRow::operator_suspended>("o.suspended"),
    joined<&ApprovalRow::operator_version>("o.version"),
};
const std::string kSelectApproval = select(kApprovalColumns) + " FROM approvals a";
// A suspension of the operator or a change of the operator's version ends a request.
#define FROM_WAITING                                                \
  " INDEXED BY approvals_waiting JOIN operators o USING (operator)" \
  " WHERE a.state = 0 AND a.expires_at > ? AND o.suspended = 0 AND o.version = a.version"
const std::string kFindApproval =
    kSelectApproval + " JOIN operators o USING (operator) WHERE a.id = ?";
const std::string kNewest =
    kSelectApproval +
    " JOIN operators o USING (operator) WHERE a.approval < ? ORDER BY a.approval DESC LIMIT ?";
// Sorts the waiting requests, whose number is limited per operator.
const std::string kWaiting =
    kSelectApproval + FROM_WAITING " AND a.approval < ? ORDER BY a.approval DESC LIMIT ?";
constexpr const char* kApprovedToken =
    "SELECT 1 FROM approvals WHERE command = 'operator token create' AND decided_by = ?1"
    " AND state <> ?2 AND lower(json_extract(detail, '$.NAME')) = ?3";
constexpr const char* kCountWaiting =
    "SELECT count(*), min(a.requested_at) FROM approvals a" FROM_WAITING;
constexpr const char* kCountOfOperator =
    "SELECT count(*) FROM approvals a" FROM_WAITING " AND o.id = ?";
#undef FROM_WAITING
constexpr const char* kInsertApproval =
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

}  // namespace

void insert_approval(WriteTx& tx, const ApprovalRow& row) {
  tx.db().run(kForgetEnded, tx.now());
  tx.db().run(kInsertApproval, row.id, row.operator_id, row.version, row.command, row.detail,
              Blob{row.sealed_arguments}, row.requested_at, row.expires_at);
}

std::optional<ApprovalRow> find_approval(Connection& db, ApprovalId id) {
  auto row = first_row<ApprovalRow>(db, kFindApproval, kApprovalColumns, id);
  if (row) require_intact(db, "approvals", row->key, {{"id", id}});
  return row;
}

RowPage<ApprovalRow> list_approvals(Connection& db, std::optional<Timestamp> waiting_at,
                                    const PageAt& page) {
  const std::int64_t before = page.key.value_or(std::numeric_limits<std::int64_t>::max());
  auto rows = all_rows<ApprovalRow>(
      waiting_at ? Query(db, kWaiting.c_str(), *waiting_at, before, page.limit + 1)
                 : Query(db, kNewest.c_str(), before, page.limit + 1),
      kApprovalColumns);
  return page_of(std::move(rows), page, [](const ApprovalRow& row) { return row.key; });
}

void decide_approval(WriteTx& tx, ApprovalId id, ApprovalState state, const std::string& by) {
  tx.db().run(kDecide, state, by, tx.now(), id);
}

void finish_approval(WriteTx& tx, ApprovalId id, ApprovalState state,
                     const std::optional<std::string>& outcome) {
  tx.db().run("UPDATE approvals SET state = ?, outcome = ? WHERE id = ? AND state = 1", state,
              outcome, id);
}

WaitingApprovals waiting_approvals(Connection& db, Timestamp now) {
  return *first_of<WaitingApprovals, std::int64_t, std::optional<Timestamp>>(db, kCountWaiting,
                                                                             now);
}

std::int64_t count_waiting_approvals(Connection& db, OperatorId id, Timestamp now) {
  return first_integer(db, kCountOfOperator, now, id).value_or(0);
}

bool has_approved_token(Connection& db, std::string_view program, std::string_view approver) {
  return Query(db, kApprovedToken, approver, ApprovalState::rejected, program).step();
}

}  // namespace coffer::store
