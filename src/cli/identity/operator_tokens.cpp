#include "flows/identity/operator_tokens.h"

#include <algorithm>

#include "app/app.h"
#include "base/text/next_part.h"
#include "cli/command_groups.h"
#include "cli/identity/operators.h"
#include "cli/paging.h"
#include "cli/paths.h"

namespace coffer::cli {
namespace {

/// Each name must permit a command of the role.
Result<void> check_commands(std::string_view list, OperatorRole role) {
  for (const std::string& one : parts_of(list, ',')) {
    const bool useful =
        !one.empty() && std::ranges::any_of(commands(), [&](const Command& command) {
          return is_for_the_page(command) && command.role <= role && permits_command(one, command);
        });
    if (useful) continue;
    return unexpected(Slug::malformed_request,
                      "--commands: a token of the role " + std::string(name(role)) +
                          " cannot run \"" + one +
                          "\". Take names such as `payment list`, or a group such as payment, from "
                          "coffer help.");
  }
  return {};
}

std::string_view token_status(const flows::OperatorToken& one, Timestamp now) {
  if (one.token.expires_at.ms <= now.ms) return "ended";
  return one.program.suspended ? "suspended" : "active";
}

Result<CommandResult> create_token(Session& session, const Arguments& arguments) {
  flows::NewOperatorToken fresh;
  fresh.name = arguments.text("NAME");
  fresh.role = *parse_term<OperatorRole>(arguments.text("role"));
  fresh.commands = arguments.find("commands").value_or("");
  fresh.networks = parts_of(arguments.find("networks").value_or(""), ',');
  COFFER_TRY_VOID(check_commands(fresh.commands, fresh.role));
  COFFER_TRY(const auto end, optional_time(arguments, "expires"));
  fresh.expires_at = end.value();
  COFFER_TRY(const Secret token,
             flows::create_operator_token(session.app.flows(), fresh, session.actor));
  return CommandResult{
      .records = {{{"name", fresh.name}, {"expiresAt", fresh.expires_at}, {"token", token}}},
      .note = "\nThe token is shown once. Programs send it as Authorization: Bearer TOKEN to " +
              session.app.listeners().admin_origin() + "/admin/api/run/."};
}

Result<CommandResult> list_tokens(Session& session, const Arguments&) {
  COFFER_TRY(const auto tokens, flows::list_operator_tokens(session.app.flows()));
  const Timestamp now = session.app.queue().now();
  return list_of({"name", "role", "status", "expiresAt", "usedAt"}, tokens,
                 [&](const flows::OperatorToken& one) -> Record {
                   return {{"name", one.program.name},
                           {"role", name(one.program.role)},
                           {"status", token_status(one, now)},
                           {"commands", one.token.commands},
                           {"networks", one.token.networks},
                           {"createdBy", one.token.created_name},
                           {"createdAt", one.program.created_at},
                           {"expiresAt", one.token.expires_at},
                           {"usedAt", one.token.used_at},
                           {"usedFrom", one.token.used_from}};
                 });
}

Result<CommandResult> end_token(Session& session, const Arguments& arguments) {
  COFFER_TRY_VOID(flows::end_operator_token(session.app.flows(), arguments.text("NAME")));
  return CommandResult{.records = {{{"name", arguments.text("NAME")}, {"status", "ended"}}}};
}

}  // namespace

bool permits_command(std::string_view list, const Command& command) {
  if (command.by_person) return false;
  const bool harmless = !needs_recent_sign_in(command);
  if (list.empty()) return harmless;
  return std::ranges::any_of(parts_of(list, ','), [&](const std::string& one) {
    return one == command.path || (harmless && command.path.starts_with(one + ' '));
  });
}

std::vector<Command> operator_token_commands() {
  return {
      for_administrators(
          "operator token create", "Create a token for an operator's program", "Create token",
          "The token is shown once.", create_token,
          {positional("NAME", "Name: 1 to 64 characters of A-Z a-z 0-9 . _ @ + -"),
           choice_of<OperatorRole>("role", "Role", "viewer"),
           on_page(option("commands", "LIST",
                          "Commands and groups that it may run, separated by commas; by default "
                          "all of its role that neither move money nor change access"),
                   "Commands", "payment,wallet list"),
           on_page(option("networks", "LIST",
                          "Addresses or networks of the program, separated by commas; by default "
                          "any"),
                   "Networks", "10.1.2.0/24"),
           on_page(required_option("expires", "TIME", "When it ends, within 366 days"), "Ends",
                   "2027-03-31")},
          {.details = "A command that moves money or changes access must be named in full, such as "
                      "`wallet fund`; the settings of four_eyes hold for it. Commands that give "
                      "people access, and approvals, are for people alone.",
           .by_person = true}),
      for_viewers("operator token list", "List tokens of operators' programs", list_tokens),
      for_administrators("operator token end", "End a token and the requests of its program",
                         "End token", "It stops working immediately.", end_token,
                         {positional_id("NAME", "Name of the token",
                                        "List tokens with coffer operator token list")},
                         {.alone = true})};
}

}  // namespace coffer::cli
