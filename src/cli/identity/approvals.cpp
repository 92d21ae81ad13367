#include "cli/identity/approvals.h"

#include "app/app.h"
#include "cli/command_groups.h"
#include "cli/dispatch.h"
#include "cli/operations/paging.h"
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

Result<CommandResult> list_approvals(Session& session, store::Connection& db,
                                     const Arguments& arguments) {
  COFFER_TRY(const auto at, page_argument(arguments));
  const auto waiting_at =
      arguments.has("waiting") ? std::optional(session.app.queue().now()) : std::nullopt;
  return page_of({"id", "status", "requestedBy", "command", "requestedAt", "expiresAt", "decidedBy",
                  "outcome"},
                 store::list_approvals(db, waiting_at, at),
                 [&](const auto& row) { return approval_view(session, row); });
}

/// The arguments, for the approver: files in full.
std::vector<Record> approval_view(const Command& command,
                                  const std::map<std::string, std::string>& values) {
  std::vector<Record> out;
  for (const Argument& argument : command.arguments) {
    const auto given = values.find(std::string(argument.name));
    if (given == values.end()) continue;
    out.push_back({{"name", argument.name}, {"value", given->second}});
  }
  return out;
}

Result<CommandResult> show_approval(Session& session, const Arguments& arguments) {
  COFFER_TRY(const auto id, id_argument<ApprovalId>(arguments, "ID"));
  COFFER_TRY(const auto row, flows::find_approval(session.app.flows(), id));
  Record record = approval_view(session, row);
  const Command* command = find_command(row.command);
  if (command != nullptr && !row.sealed_arguments.empty()) {
    COFFER_TRY(const auto values, flows::requested_arguments(session.app.flows(), row));
    record.emplace_back("given", approval_view(*command, values));
    record.emplace_back("consequence", command->consequence);
  }
  return CommandResult{.records = {std::move(record)}};
}

/// The operator who requested the command, with the current role.
Result<Actor> requester_of(const flows::Context& flows, const store::ApprovalRow& row) {
  return flows.read([&](store::Connection& db) {
    const auto who = store::find_operator(db, row.operator_id);
    COFFER_CHECK(who.has_value());
    return Actor{who->name, who->role, who->id};
  });
}

/// `forbidden` without the role of the command.
Result<void> check_decides(const Actor& actor, const Command& command) {
  if (actor.role >= command.role) return {};
  return unexpected(Slug::forbidden, "Approving or rejecting this command requires the role " +
                                         std::string(name(command.role)) + ".");
}

Result<CommandResult> approve(Session& session, const Arguments& arguments) {
  const flows::Context& flows = session.app.flows();
  COFFER_TRY(const auto id, id_argument<ApprovalId>(arguments, "ID"));
  COFFER_TRY(const auto row, flows.read([&](store::Connection& db) {
    return flows::approvable(db, id, session.actor, session.app.queue().now());
  }));
  const Command* command = find_command(row.command);
  if (command == nullptr || !command->is_on_file()) {
    return unexpected(
        Slug::conflict,
        "This version of coffer does not have the requested command. Reject the request.");
  }
  COFFER_TRY_VOID(check_decides(session.actor, *command));
  Arguments given;
  given.json = true;
  COFFER_TRY(given.values, flows::requested_arguments(flows, row));
  COFFER_TRY_VOID(check_arguments(*command, given));
  COFFER_TRY(const Actor requester, requester_of(flows, row));
  Session theirs{session.app, session.console, session.interruption, requester};
  return carry_out_approved(theirs, *command, given, {id, session.actor});
}

Result<CommandResult> reject(Session& session, const Arguments& arguments) {
  COFFER_TRY(const auto id, id_argument<ApprovalId>(arguments, "ID"));
  COFFER_TRY(const auto asked, flows::find_approval(session.app.flows(), id));
  const Command* command = find_command(asked.command);
  const bool withdraws = session.actor.id == asked.operator_id;
  if (command != nullptr && !withdraws) COFFER_TRY_VOID(check_decides(session.actor, *command));
  COFFER_TRY(const auto row, flows::reject_approval(session.app.flows(), id, session.actor));
  return CommandResult{.records = {approval_view(session, row)}};
}

constexpr std::string_view kApproveDetails =
    "The command runs once, on behalf of the requesting operator. Its result is shown to you, "
    "including secrets that are shown once. If it fails before it changes anything, the request "
    "stays open. Approve on the admin page, because the command line does not identify an "
    "operator.";

}  // namespace

bool is_under_four_eyes(const Command& command) {
  // Commands of a demo move no real money, and they take effect before they commit, so a trial run
  // would already change the demo.
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

std::vector<Command> approval_commands() {
  const Argument id =
      positional_id("ID", "ID of the request", "List requests with coffer approval list");
  return {for_viewers(
              "approval list",
              "List commands that require a second operator, open and decided, newest first",
              list_approvals, joined({toggle("waiting", "Only open requests")}, page_arguments())),
          for_viewers("approval show", "Show a request for approval with its arguments",
                      show_approval, {id}),
          {.path = "approval approve",
           .summary = "Approve another operator's command and run it",
           .label = "Approve",
           .consequence = "The command runs immediately, on behalf of the requesting operator.",
           .run = approve,
           .role = OperatorRole::operating,
           .arguments = {id},
           .details = kApproveDetails,
           .sensitive = true,
           .alone = true},
          {.path = "approval reject",
           .summary = "Reject a request for approval",
           .label = "Reject",
           .consequence = "The command does not run.",
           .run = reject,
           .role = OperatorRole::operating,
           .arguments = {id}}};
}

}  // namespace coffer::cli
