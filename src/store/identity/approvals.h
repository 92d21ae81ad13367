// Commands of operators that wait for the approval of a second operator.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "domain/identity/four_eyes.h"
#include "domain/ids.h"
#include "store/commits/write_tx.h"
#include "store/rows/page.h"

namespace coffer::store {

struct ApprovalRow {
  std::int64_t key = 0;  // read only
  ApprovalId id;
  OperatorId operator_id;        // the operator who requested it
  std::string operator_name;     // read only
  std::int64_t version = 0;      // version of this operator at the time of the request
  std::string command;           // path in the table of commands
  std::string detail;            // JSON on one line, without secrets
  std::string sealed_arguments;  // empty once decided
  ApprovalState state = ApprovalState::waiting;
  Timestamp requested_at;
  Timestamp expires_at;
  std::optional<std::string> decided_by;
  std::optional<Timestamp> decided_at;
  std::optional<std::string> outcome;
  bool operator_suspended = false;    // read only, like the next: the operator's current state
  std::int64_t operator_version = 0;  // the request is valid only while this equals `version`
};

/// Inserts a waiting request. Also deletes the arguments of requests that have expired or ended.
void insert_approval(WriteTx& tx, const ApprovalRow& row);
std::optional<ApprovalRow> find_approval(Connection& db, ApprovalId id);
/// Newest first. With `waiting_at`, only requests that are waiting at this time.
RowPage<ApprovalRow> list_approvals(Connection& db, std::optional<Timestamp> waiting_at,
                                    const PageAt& page);
/// Decides a waiting request: the state becomes `started` or `rejected`. The caller has checked
/// that it is waiting.
void decide_approval(WriteTx& tx, ApprovalId id, ApprovalState state, const std::string& by);
/// Stores the result of a command that has started.
void finish_approval(WriteTx& tx, ApprovalId id, ApprovalState state,
                     const std::optional<std::string>& outcome);

/// Whether an operator approved the creation of this program's token.
bool has_approved_token(Connection& db, std::string_view program, std::string_view approver);

struct WaitingApprovals {
  std::int64_t count = 0;
  std::optional<Timestamp> oldest;
};
WaitingApprovals waiting_approvals(Connection& db, Timestamp now);
/// Counts the waiting requests of one operator.
std::int64_t count_waiting_approvals(Connection& db, OperatorId id, Timestamp now);

}  // namespace coffer::store
