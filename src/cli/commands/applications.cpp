#include "cli/commands/applications.h"

#include "app.h"
#include "flows/tenancy_changes.h"
#include "store/tenants.h"

namespace coffer::cli {
namespace {

Record view(const store::ApplicationRow& row) {
  const auto association =
      row.tenant ? std::optional(row.tenant->association.to_string()) : std::nullopt;
  return {{"id", row.id.to_string()},
          {"name", row.name},
          {"environment", name(row.environment)},
          {"status", row.suspended ? "suspended" : "active"},
          {"associationId", association},
          {"clientId", row.client_id},
          {"publicKey", row.public_key},
          {"scopes", row.scopes.to_string()},
          {"createdAt", row.created_at.to_string()}};
}

/// Everything it authenticates with, beside what anybody may know of it.
Answer view(const flows::RegisteredApplication& registered) {
  const flows::IssuedSecrets& secrets = registered.secrets;
  Record record = view(registered.application);
  record.emplace_back("clientSecret", secrets.client_secret);
  record.emplace_back("apiKey", secrets.api_key);
  record.emplace_back("connectSecret", secrets.connect_secret);
  record.emplace_back("signInSecret", secrets.sign_in_secret);
  record.emplace_back("secretSeed", secrets.secret_seed);
  return {.records = {std::move(record)},
          .note = "\nThe secrets are shown this once: keep them now."};
}

Result<Answer> register_one(Session& session, const Arguments& arguments) {
  flows::NewApplication application;
  application.name = arguments.text("name");
  application.environment = environment_argument(arguments);
  application.public_key = arguments.find("public-key");
  if (arguments.has("association")) {
    COFFER_TRY(application.association, id_argument<AssociationId>(arguments, "association"));
  }
  if (arguments.has("scopes")) {
    COFFER_TRY(application.scopes, ScopeSet::parse(arguments.text("scopes")));
  }
  COFFER_TRY(const auto registered, flows::register_application(session.app.flows(), application));
  return view(registered);
}

Result<Answer> list(Session& session, const Arguments&) {
  return store::with_reader(session.app.database(), [](store::Connection& db) -> Result<Answer> {
    Answer answer{.list = true,
                  .columns = {"id", "name", "environment", "status", "clientId", "associationId"}};
    for (const auto& row : store::list_applications(db)) answer.records.push_back(view(row));
    return answer;
  });
}

Result<Answer> rotate(Session& session, const Arguments& arguments) {
  COFFER_TRY(const auto id, id_argument<ApplicationId>(arguments, "ID"));
  COFFER_TRY(const auto registered, flows::rotate_application(session.app.flows(), id));
  return view(registered);
}

template <bool kSuspended>
Result<Answer> suspend(Session& session, const Arguments& arguments) {
  COFFER_TRY(const auto id, id_argument<ApplicationId>(arguments, "ID"));
  COFFER_TRY(const auto row, flows::suspend_application(session.app.flows(), id, kSuspended));
  return Answer{.records = {view(row)}};
}

Result<Answer> change_scopes(Session& session, const Arguments& arguments) {
  COFFER_TRY(const auto id, id_argument<ApplicationId>(arguments, "ID"));
  COFFER_TRY(const auto scopes, ScopeSet::parse(arguments.text("SCOPES")));
  COFFER_TRY(const auto row, flows::change_scopes(session.app.flows(), id, scopes));
  return Answer{.records = {view(row)}};
}

constexpr std::string_view kHint =
    "coffer application list and coffer association list show what there is";

}  // namespace

std::vector<Command> application_commands() {
  const Argument id = positional("ID", "Its id (not its client id)");
  return {
      {.path = "application register",
       .summary = "Register an application and issue its secrets",
       .run = register_one,
       .arguments = {required_option("name", "TEXT", "Its name"),
                     option("association", "ID", "Whose it is; without one its calls answer 403"),
                     choice("environment", "sandbox|production", "Where its calls run", "sandbox"),
                     option("scopes", "\"A B\"",
                            "What it may do, as in \"wallets:read quotes:read\"; all by default"),
                     option("public-key", "G...", "Its own key; by default a pair is made")},
       .hint = "coffer association list shows what there is"},
      {.path = "application list",
       .summary = "List the applications",
       .run = list,
       .role = OperatorRole::viewer},
      {.path = "application rotate",
       .summary = "Issue new secrets; the old ones and all tokens end at once",
       .run = rotate,
       .arguments = {id},
       .hint = kHint},
      {.path = "application suspend",
       .summary = "End all tokens and refuse its secrets",
       .run = suspend<true>,
       .role = OperatorRole::operating,
       .arguments = {id},
       .hint = kHint},
      {.path = "application resume",
       .summary = "Let the secrets of a suspended application work again",
       .run = suspend<false>,
       .role = OperatorRole::operating,
       .arguments = {id},
       .hint = kHint},
      {.path = "application scopes",
       .summary = "Change what it may do; its tokens end",
       .run = change_scopes,
       .arguments = {id, positional("SCOPES", "In one argument, separated by spaces")},
       .hint = kHint},
  };
}

}  // namespace coffer::cli
