// Commands of operators that wait for a second operator.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "domain/identity/four_eyes.h"
#include "domain/ids.h"
#include "store/operations/newest.h"
#include "store/write_tx.h"

namespace coffer::store {

struct ApprovalRow {
  std::int64_t key = 0;  // read only
  ApprovalId id;
  OperatorId operator_id;        // who asks
  std::string operator_name;     // read only
  std::int64_t version = 0;      // of this operator when they asked
  std::string command;           // path in the table of commands
  std::string detail;            // JSON on one line, without secrets
  std::string sealed_arguments;  // empty once decided
  ApprovalState state = ApprovalState::waiting;
  Timestamp requested_at;
  Timestamp expires_at;
  std::optional<std::string> decided_by;
  std::optional<Timestamp> decided_at;
  std::optional<std::string> outcome;
  bool operator_suspended = false;    // read only, and the next: as the operator is now
  std::int64_t operator_version = 0;  // another one than `version` ends the request
};

/// Inserts a waiting request. Also deletes the arguments of expired and ended ones.
void insert_approval(WriteTx& tx, const ApprovalRow& row);
std::optional<ApprovalRow> find_approval(Connection& db, ApprovalId id);
struct ApprovalPage {
  std::vector<ApprovalRow> rows;
  std::optional<std::int64_t> next;
};
/// Newest first; with `waiting_at`, only those that wait at this time: not
/// expired, not ended.
ApprovalPage list_approvals(Connection& db, std::optional<Timestamp> waiting_at,
                            const NewestAt& at);
/// Ends the waiting: the state is `started` or `rejected`. The caller has checked that it waits.
void decide_approval(WriteTx& tx, ApprovalId id, ApprovalState state, const std::string& by);
/// The result of a command that has started.
void finish_approval(WriteTx& tx, ApprovalId id, ApprovalState state,
                     const std::optional<std::string>& outcome);

struct WaitingApprovals {
  std::int64_t count = 0;
  std::optional<Timestamp> oldest;
};
WaitingApprovals waiting_approvals(Connection& db, Timestamp now);
/// Of one operator.
std::int64_t count_waiting_approvals(Connection& db, OperatorId id, Timestamp now);

}  // namespace coffer::store
