#include "app/app.h"
#include "cli/command_groups.h"
#include "flows/identity/provider_sign_in.h"

namespace coffer::cli {
namespace {

CommandResult linked(const store::OperatorRow& row) {
  return {.records = {{{"name", row.name}, {"subject", row.subject}}}};
}

Result<CommandResult> link(Session& session, const Arguments& arguments) {
  COFFER_TRY(const auto row,
             flows::link_operator(session.app.flows(), arguments.text("NAME"),
                                  session.app.config().oidc_issuer, arguments.text("subject")));
  return linked(row);
}

Result<CommandResult> unlink(Session& session, const Arguments& arguments) {
  COFFER_TRY(const auto row, flows::unlink_operator(session.app.flows(), arguments.text("NAME")));
  return linked(row);
}

constexpr std::string_view kProviderOperatorHint = "List operators with coffer operator list";

}  // namespace

std::vector<Command> operator_provider_commands() {
  const Argument who = positional("NAME", "Name of the operator");
  return {{.path = "operator link",
           .summary = "Let an operator sign in with an account of the identity provider",
           .label = "Link account",
           .consequence = "The owner of this account at the provider signs in as the operator.",
           .run = link,
           .arguments = {who, on_page(required_option("subject", "SUB",
                                                      "Subject (sub) of the account; the audit log "
                                                      "contains it after a refused sign-in"),
                                      "Subject")},
           .hint = kProviderOperatorHint},
          {.path = "operator unlink",
           .summary = "Remove the link to an account of the identity provider",
           .label = "Unlink account",
           .consequence = "Their sessions end. They sign in with their password or a passkey.",
           .run = unlink,
           .arguments = {who},
           .hint = kProviderOperatorHint}};
}

}  // namespace coffer::cli
