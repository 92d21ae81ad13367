// Requests for the approval of a second operator (docs/operating.md#four-eyes).
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "domain/identity/operators.h"
#include "flows/context.h"
#include "store/identity/approvals.h"

namespace coffer::flows {

inline constexpr std::int64_t kApprovalLifetimeMs = 3 * kDayMs;
/// Maximum number of waiting requests per operator.
inline constexpr std::int64_t kWaitingApprovalsMax = 50;

struct RequestedCommand {
  std::string command;  // path in the table of commands
  std::string detail;   // arguments for the audit log
  std::map<std::string, std::string> arguments;
};

/// The reason why a request ended without a decision.
struct ApprovalEnd {
  std::string_view name;  // `operator-suspended`
  std::string_view what;  // a predicate that follows the operator's name
};
/// A waiting request ends when its operator is suspended, gets another role, password,
/// authenticator or passkey, or loses their sessions. nullopt if it has not ended.
std::optional<ApprovalEnd> end_of(const store::ApprovalRow& row);

/// Stores the request of a signed-in operator, and its audit entry. `conflict` if the operator has
/// too many waiting requests; `unauthorized` if the operator was suspended meanwhile.
Result<store::ApprovalRow> request_approval(const Context& context, const Actor& actor,
                                            const RequestedCommand& command);
/// `not-found`.
Result<store::ApprovalRow> find_approval(const Context& context, ApprovalId id);
/// The arguments of a request that has not been decided.
Result<std::map<std::string, std::string>> requested_arguments(const Context& context,
                                                               const store::ApprovalRow& row);

/// Whether `approver` may approve the request now: it waits, and another operator made it.
/// `not-found`, `forbidden`, `conflict`.
Result<store::ApprovalRow> approvable(store::Connection& db, ApprovalId id, const Actor& approver,
                                      Timestamp now);
/// Stores the approval in the commit that contains the first change of the command. Returns the
/// Problems of `approvable`.
Result<void> approve(store::WriteTx& tx, ApprovalId id, const Actor& approver);
/// Stores the result of an approved command. `problem` is empty, or the name of a problem. `made`
/// is the record ID of the payment that it has made.
Result<void> finish_approval(const Context& context, ApprovalId id, const std::string& problem,
                             const std::optional<std::string>& made);
/// `not-found`; `conflict` if the request was decided, or has ended or expired.
Result<store::ApprovalRow> reject_approval(const Context& context, ApprovalId id,
                                           const Actor& actor);

}  // namespace coffer::flows
