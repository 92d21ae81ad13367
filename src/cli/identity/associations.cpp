#include <algorithm>

#include "app/app.h"
#include "base/text/join.h"
#include "cli/command_groups.h"
#include "cli/paging.h"
#include "flows/identity/quotas.h"
#include "flows/identity/tenancy_changes.h"
#include "store/identity/tenants.h"

namespace coffer::cli {
namespace {

Record association_view(const store::AssociationRow& row) {
  return {{"id", row.id},
          {"name", row.name},
          {"status", name(row.status)},
          {"type", row.entity_type == EntityType::person ? "person" : "business"},
          {"createdAt", row.created_at},
          {"updatedAt", row.updated_at}};
}

Result<CommandResult> create(Session& session, const Arguments& arguments) {
  const auto status =
      arguments.has("pending") ? AssociationStatus::pending : AssociationStatus::active;
  const auto type = arguments.text("type") == "person" ? EntityType::person : EntityType::business;
  COFFER_TRY(const auto row, flows::register_association(session.app.flows(),
                                                         arguments.text("NAME"), status, type));
  return CommandResult{
      .records = {association_view(row)},
      .note =
          "\nNext, register an application for it: coffer application register --name NAME "
          "--association " +
          row.id.to_string()};
}

Result<CommandResult> list_associations(Session&, store::Connection& db, const Arguments&) {
  return list_of({"id", "name", "status", "createdAt"}, store::list_associations(db),
                 association_view);
}

template <AssociationStatus kTo>
Result<CommandResult> change(Session& session, const Arguments& arguments) {
  COFFER_TRY(const auto id, id_argument<AssociationId>(arguments, "ID"));
  COFFER_TRY(const auto row, flows::change_association_status(session.app.flows(), id, kTo));
  return CommandResult{.records = {association_view(row)}};
}

/// Maximum number of rows in the list of all associations.
constexpr std::size_t kFullest = 100;

Record quota_view(Owners& owners, const flows::QuotaState& state) {
  // Avoids a division by zero: a limit of 0 counts as fully used.
  const std::int64_t whole = std::max<std::int64_t>(1, state.limit);
  Record out{
      {"quota", name(state.quota)},
      {"used", state.used},
      {"limit", quota_limit_text(state.quota, state.limit)},
      {"usedPercent", state.limit == kUnlimited ? std::nullopt : percent(state.used, whole)}};
  owners.put(out, state.tenant);
  return out;
}

CommandResult quota_list(store::Connection& db, const std::vector<flows::QuotaState>& states) {
  Owners owners(db);
  return list_of(
      {"quota", "used", "limit", "usedPercent", "environment", "association", "associationId"},
      states, [&](const flows::QuotaState& state) { return quota_view(owners, state); });
}

Result<CommandResult> list_quotas(Session& session, store::Connection& db,
                                  const Arguments& arguments) {
  const flows::Context& context = session.app.flows();
  COFFER_TRY(const auto tenants, owners_argument(db, arguments));
  std::vector<flows::QuotaState> states;
  if (!tenants) {
    states = flows::all_quotas(context, db);
    if (states.size() > kFullest) states.resize(kFullest);
    return quota_list(db, states);
  }
  for (const std::int64_t tenant : *tenants) {
    const auto more = flows::quotas_of(context, db, store::tenant_by_key(db, tenant));
    states.insert(states.end(), more.begin(), more.end());
  }
  return quota_list(db, states);
}

Result<CommandResult> set(Session& session, const Arguments& arguments) {
  COFFER_TRY(const auto id, id_argument<AssociationId>(arguments, "ID"));
  const Quota quota = parse_quota(arguments.text("QUOTA")).value();
  std::optional<std::int64_t> limit;
  if (const std::string& text = arguments.text("LIMIT"); text != "default") {
    limit = parse_quota_limit(quota, text);
    if (!limit) {
      return unexpected(Slug::malformed_request,
                        "LIMIT \"" + text + "\" is not a valid limit for " +
                            std::string(name(quota)) + ". " + std::string(kQuotaLimitForm) +
                            "; default restores the setting.");
    }
  }
  COFFER_TRY(const auto states, flows::set_quota(session.app.flows(), id,
                                                 environment_argument(arguments), quota, limit));
  return session.app.flows().read([&](store::Connection& db) { return quota_list(db, states); });
}

/// `wallets|beneficiaries|...`
std::string_view quota_words() {
  static const std::string words = join(quota_table(), "|", std::mem_fn(&QuotaInfo::name));
  return words;
}

}  // namespace

std::vector<Command> association_commands() {
  const Argument id =
      positional_id("ID", "ID of the association", "List IDs with coffer association list");
  return {
      for_administrators("association create", "Create an association", "Create association",
                         "A customer whose money you hold.", create,
                         {positional("NAME", "Name of the association"),
                          on_page(toggle("pending", "Approve later: can read, cannot pay"),
                                  "Approve later: can read, cannot pay"),
                          choice("type", "person|business",
                                 "Whether it pays as a person or as a business", "business")}),
      for_viewers("association list", "List associations", list_associations),
      for_operators("association activate", "Activate a pending or suspended association",
                    "Activate association", "It can move money immediately.",
                    change<AssociationStatus::active>, {id}, {.sensitive = true}),
      for_operators(
          "association suspend",
          "Suspend an association: payments are rejected, reads and settlements in progress "
          "continue",
          "Suspend association",
          "Payments are rejected immediately. Reads and settlements in progress continue.",
          change<AssociationStatus::suspended>, {id}),
      for_viewers(
          "association quotas", "List quotas and their usage, fullest first", list_quotas,
          owner_arguments(),
          {.details = "With --association, the list contains every quota of that association. Each "
                      "association has separate quotas in the sandbox and in production."}),
      for_administrators(
          "association set-quota", "Set a quota of an association", "Set quota", "", set,
          {identifying("associationId", id),
           identifying(
               "quota",
               on_page(positional_choice("QUOTA", quota_words(), "Name of the quota"), "Quota")),
           on_page(member_of("limit", positional("LIMIT",
                                                 "New limit: a number, a size such as 2GiB, "
                                                 "unlimited, or default")),
                   "Limit", "2GiB"),
           identifying("environment", environment_choice("Environment of the quota"))},
          {.details = "A limit below the current use removes nothing. Additions return 422 "
                      "quota-exceeded until enough is freed. LIMIT default restores the value of "
                      "the settings quota_sandbox and quota_production.",
           .present = "association quotas"})};
}

}  // namespace coffer::cli
