#include "flows/identity/approvals.h"

#include "app/app.h"
#include "cli/command_groups.h"
#include "cli/paging.h"
#include "cli/run/dispatch.h"
#include "cli/run/four_eyes.h"
#include "flows/identity/operator_tokens.h"
#include "store/identity/operators.h"

namespace coffer::cli {
namespace {

Result<CommandResult> list_approvals(Session& session, store::Connection& db,
                                     const Arguments& arguments) {
  COFFER_TRY(const auto at, page_argument(arguments));
  const auto waiting_at =
      arguments.has("waiting") ? std::optional(session.app.queue().now()) : std::nullopt;
  return page_of({"id", "status", "requestedBy", "command", "subject", "requestedAt", "expiresAt",
                  "decidedBy", "outcome"},
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
    COFFER_TRY(auto asked, requested_arguments(session, row));
    record.emplace_back("previewed", std::move(asked.seen));
    record.emplace_back("given", approval_view(*command, asked.values));
    record.emplace_back("consequence", command->consequence);
  }
  return CommandResult{.records = {std::move(record)}};
}

/// The operator who requested the command, with the current role. `conflict` if the token of a
/// program has ended since the request was checked.
Result<Actor> requester_of(const flows::Context& flows, const store::ApprovalRow& row) {
  return flows.read([&](store::Connection& db) -> Result<Actor> {
    const auto token = store::find_operator_token_of(db, row.operator_id);
    const auto who = token ? flows::acting_program(db, *token, flows.queue.now())
                           : store::find_operator(db, row.operator_id);
    if (who) return Actor{who->name, who->role, who->id};
    return unexpected(Slug::conflict, "The token of " + row.operator_name + " no longer works.");
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
  COFFER_TRY(auto asked, requested_arguments(session, row));
  given.values = std::move(asked.values);
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

std::vector<Command> approval_commands() {
  const Argument id =
      positional_id("ID", "ID of the request", "List requests with coffer approval list");
  return {for_viewers(
              "approval list",
              "List commands that require a second operator, open and decided, newest first",
              list_approvals, joined({toggle("waiting", "Only open requests")}, page_arguments())),
          for_viewers("approval show", "Show a request for approval with its arguments",
                      show_approval, {id}),
          for_operators(
              "approval approve", "Approve another operator's command and run it", "Approve",
              "The command runs immediately, on behalf of the requesting operator.", approve, {id},
              {.details = kApproveDetails, .sensitive = true, .alone = true, .by_person = true}),
          for_operators("approval reject", "Reject a request for approval", "Reject",
                        "The command does not run.", reject, {id}, {.by_person = true})};
}

}  // namespace coffer::cli
