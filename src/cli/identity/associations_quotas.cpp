#include <algorithm>

#include "app/app.h"
#include "base/text/join.h"
#include "cli/command_groups.h"
#include "cli/operations/paging.h"
#include "flows/identity/quotas.h"

namespace coffer::cli {
namespace {

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

CommandResult answer_of(store::Connection& db, const std::vector<flows::QuotaState>& states) {
  CommandResult result{.list = true,
                       .columns = {"quota", "used", "limit", "usedPercent", "environment",
                                   "association", "associationId"}};
  Owners owners(db);
  for (const flows::QuotaState& state : states) result.records.push_back(quota_view(owners, state));
  return result;
}

Result<CommandResult> list_quotas(Session& session, const Arguments& arguments) {
  const flows::Context& context = session.app.flows();
  return session.app.flows().read([&](store::Connection& db) -> Result<CommandResult> {
    COFFER_TRY(const auto tenants, owners_argument(db, arguments));
    std::vector<flows::QuotaState> states;
    if (!tenants) {
      states = flows::all_quotas(context, db);
      if (states.size() > kFullest) states.resize(kFullest);
      return answer_of(db, states);
    }
    for (const std::int64_t tenant : *tenants) {
      const auto more = flows::quotas_of(context, db, store::tenant_by_key(db, tenant));
      states.insert(states.end(), more.begin(), more.end());
    }
    return answer_of(db, states);
  });
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
  return session.app.flows().read([&](store::Connection& db) { return answer_of(db, states); });
}

/// `wallets|beneficiaries|...`
std::string_view quota_words() {
  static const std::string words = join(quota_table(), "|", std::mem_fn(&QuotaInfo::name));
  return words;
}

}  // namespace

std::vector<Command> association_quota_commands() {
  return {
      {.path = "association quotas",
       .summary = "List quotas and their usage, fullest first",
       .run = list_quotas,
       .role = OperatorRole::viewer,
       .arguments = owner_arguments(),
       .details = "With --association, the list contains every quota of that association. Each "
                  "association has separate quotas in the sandbox and in production."},
      {.path = "association set-quota",
       .summary = "Set a quota of an association",
       .label = "Set quota",
       .run = set,
       .arguments =
           {positional("ID", "ID of the association"),
            on_page(positional_choice("QUOTA", quota_words(), "Name of the quota"), "Quota"),
            on_page(positional("LIMIT",
                               "New limit: a number, a size such as 2GiB, unlimited, or default"),
                    "Limit", "2GiB"),
            choice("environment", "sandbox|production", "Environment of the quota", "sandbox")},
       .hint = "List IDs with coffer association list",
       .details = "A limit below the current use removes nothing. Additions return 422 "
                  "quota-exceeded until enough is freed. LIMIT default restores the value of the "
                  "settings quota_sandbox and quota_production."}};
}

}  // namespace coffer::cli
