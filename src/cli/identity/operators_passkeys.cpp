#include "cli/identity/operators_passkeys.h"

#include "app/app.h"
#include "cli/command_groups.h"
#include "flows/identity/operator_change.h"
#include "flows/identity/operators.h"
#include "flows/identity/passkeys.h"

namespace coffer::cli {
namespace {

Result<CommandResult> list_passkeys(Session& session, const Arguments& arguments) {
  const flows::Context& flows = session.app.flows();
  COFFER_TRY(const auto row, flows::find_operator(flows, arguments.text("NAME")));
  COFFER_TRY(const auto passkeys, flows::list_passkeys(flows, row.id));
  CommandResult result{.list = true, .columns = {"id", "name", "site", "createdAt", "usedAt"}};
  for (const auto& passkey : passkeys) result.records.push_back(passkey_record(passkey));
  return result;
}

Result<CommandResult> remove(Session& session, const Arguments& arguments) {
  COFFER_TRY(const auto row, flows::change_operator_named(
                                 session.app.flows(), arguments.text("NAME"),
                                 [&](store::WriteTx& tx, store::OperatorRow& now) {
                                   return flows::remove_passkey(tx, now, arguments.text("ID"));
                                 }));
  return CommandResult{.records = {{{"operator", row.name}, {"passkeys", row.passkeys}}}};
}

}  // namespace

Record passkey_record(const store::PasskeyRow& row) {
  return {{"id", flows::passkey_list_id(row)},
          {"name", row.name},
          {"site", row.site},
          {"createdAt", row.created_at},
          {"usedAt", row.used_at}};
}

std::vector<Command> operator_passkey_commands() {
  const Argument who = positional("NAME", "Name of the operator");
  return {{.path = "operator passkeys",
           .summary = "List the passkeys of an operator",
           .label = "List passkeys",
           .run = list_passkeys,
           .arguments = {who},
           .hint = "List operators with coffer operator list",
           .alone = true},
          {.path = "operator remove-passkey",
           .summary = "Remove a passkey of an operator and end their sessions",
           .label = "Remove passkey",
           .consequence = "It stops working immediately, and their sessions end.",
           .run = remove,
           .arguments = {who, positional("ID", "ID of the passkey, from the list")},
           .hint = "List passkeys with coffer operator passkeys"}};
}

}  // namespace coffer::cli
