#include <map>

#include "app/app.h"
#include "base/text/next_part.h"
#include "cli/command_groups.h"
#include "flows/identity/tenancy_changes.h"
#include "store/identity/tenants.h"

namespace coffer::cli {
namespace {

constexpr std::string_view kNewKeyPair = "new";

Record application_view(const store::ApplicationRow& row) {
  const auto association = row.tenant ? std::optional(row.tenant->association) : std::nullopt;
  return {{"id", row.id},
          {"name", row.name},
          {"environment", name(row.environment)},
          {"status", row.suspended ? "suspended" : "active"},
          {"associationId", association},
          {"clientId", row.client_id},
          {"publicKey", row.public_key},
          {"scopes", row.scopes},
          {"networks", row.networks},
          {"certificates", row.certificates},
          {"oldSecretsUntil", row.old ? std::optional(row.old->until) : std::nullopt},
          {"rotatedAt", row.rotated_at},
          {"createdAt", row.created_at}};
}

using Uses = std::map<Sha256, store::SecretUse>;

/// `apiKeyUsedAt` and `apiKeyUsedFrom`, for the secret with this name and hash.
void put_use(Record& record, const std::string& secret, const Uses& uses, const Sha256& hash) {
  const auto use = uses.find(hash);
  std::optional<std::string> at, from;
  if (use != uses.end()) {
    at = use->second.at.to_string();
    from = use->second.address;
  }
  record.emplace_back(secret + "UsedAt", at);
  record.emplace_back(secret + "UsedFrom", from);
}

Record application_view(const store::ApplicationRow& row, const Uses& uses) {
  Record record = application_view(row);
  put_use(record, "apiKey", uses, row.api_key_hash);
  put_use(record, "connectSecret", uses, row.connect_hash);
  if (row.old) {
    put_use(record, "oldApiKey", uses, row.old->api_key_hash);
    put_use(record, "oldConnectSecret", uses, row.old->connect_hash);
  }
  return record;
}

/// The credentials of an application, and its public data.
CommandResult application_view(const flows::RegisteredApplication& registered) {
  const flows::IssuedSecrets& secrets = registered.secrets;
  Record record = application_view(registered.application);
  record.emplace_back("clientSecret", secrets.client_secret);
  record.emplace_back("apiKey", secrets.api_key);
  record.emplace_back("connectSecret", secrets.connect_secret);
  record.emplace_back("signInSecret", secrets.sign_in_secret);
  record.emplace_back("secretSeed", secrets.secret_seed);
  return {.records = {std::move(record)},
          .note = "\nCopy these secrets now. You won't see them again."};
}

Result<CommandResult> register_one(Session& session, const Arguments& arguments) {
  flows::NewApplication application;
  application.name = arguments.text("name");
  application.environment = environment_argument(arguments);
  application.public_key = arguments.find("public-key");
  COFFER_TRY(application.association, optional_id<AssociationId>(arguments, "association"));
  if (arguments.has("scopes")) {
    COFFER_TRY(application.scopes, ScopeSet::parse(arguments.text("scopes")));
  }
  COFFER_TRY(const auto registered, flows::register_application(session.app.flows(), application));
  return application_view(registered);
}

Result<CommandResult> list_applications(Session&, store::Connection& db, const Arguments&) {
  Uses uses;
  for (auto& use : store::list_secret_uses(db)) uses.emplace(use.hash, std::move(use));
  return list_of({"id", "name", "environment", "status", "clientId", "associationId",
                  "apiKeyUsedAt", "apiKeyUsedFrom"},
                 store::list_applications(db),
                 [&](const auto& row) { return application_view(row, uses); });
}

Result<CommandResult> rotate(Session& session, const Arguments& arguments) {
  COFFER_TRY(const auto id, id_argument<ApplicationId>(arguments, "ID"));
  COFFER_TRY(const int hours,
             number_argument<int>(arguments, "overlap-h", 0, flows::kOverlapHoursMax));
  auto public_key = arguments.find("public-key");
  if (public_key == kNewKeyPair) public_key = "";
  COFFER_TRY(const auto registered,
             flows::rotate_application(session.app.flows(), id, hours * kHourMs, public_key));
  return application_view(registered);
}

template <bool kSuspended>
Result<CommandResult> suspend_application(Session& session, const Arguments& arguments) {
  COFFER_TRY(const auto id, id_argument<ApplicationId>(arguments, "ID"));
  COFFER_TRY(const auto row, flows::suspend_application(session.app.flows(), id, kSuspended));
  return CommandResult{.records = {application_view(row)}};
}

/// A list that restricts an application; the word `none` empties it.
std::vector<std::string> restriction(std::string_view list, std::string_view none) {
  return parts_of(list == none ? "" : list, ',');
}

Result<CommandResult> change_networks(Session& session, const Arguments& arguments) {
  COFFER_TRY(const auto id, id_argument<ApplicationId>(arguments, "ID"));
  const auto networks = restriction(arguments.text("NETWORKS"), "any");
  COFFER_TRY(const auto row, flows::change_networks(session.app.flows(), id, networks));
  return CommandResult{.records = {application_view(row)}};
}

Result<CommandResult> change_certificates(Session& session, const Arguments& arguments) {
  COFFER_TRY(const auto id, id_argument<ApplicationId>(arguments, "ID"));
  const auto list = restriction(arguments.text("FINGERPRINTS"), "none");
  COFFER_TRY(const auto row, flows::change_certificates(session.app.flows(), id, list));
  return CommandResult{.records = {application_view(row)}};
}

Result<CommandResult> change_scopes(Session& session, const Arguments& arguments) {
  COFFER_TRY(const auto id, id_argument<ApplicationId>(arguments, "ID"));
  COFFER_TRY(const auto scopes, ScopeSet::parse(arguments.text("SCOPES")));
  COFFER_TRY(const auto row, flows::change_scopes(session.app.flows(), id, scopes));
  return CommandResult{.records = {application_view(row)}};
}

Argument scopes_choice(const Argument& argument) {
  return on_page(member_of("scopes", chosen_among(terms<Scope>(), argument, ' ')), "Scopes",
                 "wallets:read quotes:read");
}

Command networks_command(const Argument& id) {
  return for_administrators(
      "application networks", "Restrict an application to client addresses", "Restrict addresses",
      "Requests from other addresses are rejected immediately.", change_networks,
      {id, on_page(member_of("networks",
                             positional("NETWORKS",
                                        "Addresses or networks, separated by commas, or any")),
                   "Networks", "192.0.2.0/24,2001:db8::/48")});
}

Command certificates_command(const Argument& id) {
  return for_administrators(
      "application certificates", "Restrict an application to TLS client certificates",
      "Restrict certificates",
      "Requests over connections without such a certificate are rejected immediately. coffer "
      "requests client certificates only if tls_client_ca is set.",
      change_certificates,
      {id, on_page(member_of("certificates",
                             positional("FINGERPRINTS",
                                        "SHA-256 fingerprints, separated by commas, or none")),
                   "SHA-256 fingerprints", "AB:CD:...")});
}

}  // namespace

std::vector<Command> application_commands() {
  const Argument id =
      positional_id("ID", "ID of the application (not its client ID)",
                    "List IDs with coffer application list and coffer association list");
  return {
      for_administrators(
          "application register", "Register an application and issue its secrets",
          "Register application", "The secrets are shown once.", register_one,
          {required_option("name", "TEXT", "Name of the application"),
           needed_on_page(
               on_page(option("association", "ID", "Association that owns it"), "Customer")),
           environment_choice("Environment of its requests"),
           scopes_choice(option("scopes", "\"A B\"",
                                "Scopes, such as \"wallets:read quotes:read\"; all by default")),
           on_page(option("public-key", "G...",
                          "Public key of the application; by default, coffer creates a key pair"),
                   "Public key", "G...")},
          {.hint = "List IDs with coffer association list"}),
      for_viewers("application list", "List applications", list_applications),
      for_administrators(
          "application rotate", "Issue new secrets, and a new key pair on request",
          "Rotate secrets",
          "Without an overlap, the old secrets and all tokens become invalid immediately.", rotate,
          {id,
           on_page(option("overlap-h", "HOURS", "Hours that the old secrets stay valid, up to 720",
                          "0"),
                   "Overlap in hours"),
           on_page(option("public-key", "new|G...",
                          "Also replace the key pair: new, or the application's own public key; by "
                          "default, it stays"),
                   "New key pair", "new")}),
      networks_command(id),
      certificates_command(id),
      for_operators(
          "application suspend", "Revoke all tokens of an application and reject its secrets",
          "Suspend application", "Its tokens are revoked and its requests rejected immediately.",
          suspend_application<true>, {id}),
      for_operators("application resume", "Accept the secrets of a suspended application again",
                    "Resume application", "Its secrets work again immediately.",
                    suspend_application<false>, {id}, {.sensitive = true}),
      for_administrators(
          "application scopes", "Change the scopes of an application and revoke its tokens",
          "Change scopes", "Its tokens are revoked. The application must request new ones.",
          change_scopes,
          {id, scopes_choice(positional("SCOPES", "Scopes in one argument, separated by spaces"))}),
  };
}

}  // namespace coffer::cli
