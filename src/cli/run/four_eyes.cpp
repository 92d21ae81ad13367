#include "cli/run/four_eyes.h"

#include <algorithm>

#include "app/app.h"
#include "flows/identity/approvals.h"
#include "store/identity/operators.h"

namespace coffer::cli {
namespace {

std::string_view status_of(const store::ApprovalRow& row, Timestamp now) {
  if (flows::end_of(row)) return "ended";
  const bool expired = row.state == ApprovalState::waiting && row.expires_at.ms <= now.ms;
  return expired ? "expired" : name(row.state);
}

/// The problem of a failed command, or the reason why the request ended.
std::optional<std::string> outcome_of(const store::ApprovalRow& row) {
  const auto end = flows::end_of(row);
  return end ? std::optional(std::string(end->name)) : row.outcome;
}

}  // namespace

Record approval_view(Session& session, const store::ApprovalRow& row) {
  return {{"id", row.id},
          {"status", status_of(row, session.app.queue().now())},
          {"requestedBy", row.operator_name},
          {"command", row.command},
          {"arguments", row.detail},
          {"requestedAt", row.requested_at},
          {"expiresAt", row.expires_at},
          {"decidedBy", row.decided_by},
          {"decidedAt", row.decided_at},
          {"outcome", outcome_of(row)}};
}

bool is_under_four_eyes(const Command& command) {
  return needs_recent_sign_in(command) && !command.alone && !command.demo_only;
}

bool waits_for_approval(Session& session, const Command& command, const Arguments& arguments) {
  if (!session.actor.id || !is_under_four_eyes(command)) return false;
  if (!command.preview.empty() && arguments.has(std::string(command.preview))) return false;
  const auto moved = command.moves == nullptr ? std::nullopt : command.moves(session, arguments);
  return session.app.config().four_eyes.waits(moved);
}

Result<CommandResult> request_approval(Session& session, const Command& command,
                                       const Arguments& arguments, const std::string& detail) {
  COFFER_TRY(const auto row,
             flows::request_approval(session.app.flows(), session.actor,
                                     {std::string(command.path), detail, arguments.values}));
  COFFER_TRY(const bool alone, session.app.flows().read([&](store::Connection& db) {
    return std::ranges::none_of(store::list_operators(db), [&](const store::OperatorRow& each) {
      return each.id != session.actor.id && !each.suspended && each.password_hash &&
             each.role >= command.role;
    });
  }));
  std::string note = "Nothing has changed yet: a second operator must approve this command.";
  if (alone) {
    const std::string role(name(command.role));
    note += " No other operator has the role " + role +
            ". On the command line of the server, coffer operator add NAME --role " + role +
            " adds one without an approval.";
  }
  return CommandResult{
      .records = {approval_view(session, row)}, .note = std::move(note), .waits = true};
}

}  // namespace coffer::cli
