// coffer limit: limits of payments, for the operator.
#include "flows/payments/limits.h"

#include "app/app.h"
#include "cli/command_groups.h"
#include "cli/ledger/market.h"
#include "cli/paging.h"
#include "cli/providers/members.h"
#include "store/identity/tenants.h"

namespace coffer::cli {
namespace {

/// Whose limit it is: exactly one of --association, --application and --wallet.
Result<flows::LimitOwner> owner_argument(const Arguments& arguments) {
  flows::LimitOwner owner;
  COFFER_TRY(owner.association, optional_id<AssociationId>(arguments, "association"));
  COFFER_TRY(owner.application, optional_id<ApplicationId>(arguments, "application"));
  COFFER_TRY(owner.wallet, optional_id<WalletId>(arguments, "wallet"));
  const auto environment = optional_term<Environment>(arguments, "environment");
  owner.environment = environment.value_or(owner.environment);
  const int owners = int{owner.association.has_value()} + int{owner.application.has_value()} +
                     int{owner.wallet.has_value()};
  if (owners == 1 && (owner.association || !environment)) return owner;
  return unexpected(Slug::malformed_request,
                    owners == 1 ? "--environment is for --association. An application and a wallet "
                                  "belong to one environment."
                                : "Set exactly one of --association, --application and --wallet.");
}

Record limit_view(store::Connection& db, const store::LimitRow& row, Timestamp now) {
  const int decimals = row.asset.decimals;
  const LimitUse use = current_use(row.use, now);
  const Tenant tenant = store::tenant_by_key(db, row.holder.tenant);
  Record out{{"holder", row.wallet        ? "wallet"
                        : row.application ? "application"
                                          : "association"},
             {"environment", name(tenant.environment)},
             {"associationId", tenant.association},
             {"applicationId", row.application},
             {"walletId", row.wallet},
             {"assetCode", row.asset.code.value()}};
  each_member<PaymentLimits>(
      [&](const auto& each) { put_member(out, each, row.limits, decimals); });
  out.emplace_back("usedToday", use.day.amount.to_string(decimals));
  out.emplace_back("countToday", use.day.payments);
  out.emplace_back("usedThisMonth", use.month.amount.to_string(decimals));
  out.emplace_back("countThisMonth", use.month.payments);
  out.emplace_back("updatedAt", row.updated_at);
  return out;
}

Result<CommandResult> set(Session& session, const Arguments& arguments) {
  COFFER_TRY(const auto owner, owner_argument(arguments));
  COFFER_TRY(const AssetCode asset, asset_argument(arguments, "asset"));
  COFFER_TRY(const auto change, given_members<PaymentLimits>(session, arguments));
  const flows::Context& context = session.app.flows();
  COFFER_TRY(const auto row, flows::set_limit(context, owner, asset, change));
  return context.read([&](store::Connection& db) {
    return CommandResult{.records = {limit_view(db, row, context.queue.now())}};
  });
}

Result<CommandResult> remove(Session& session, const Arguments& arguments) {
  COFFER_TRY(const auto owner, owner_argument(arguments));
  COFFER_TRY(const AssetCode asset, asset_argument(arguments, "asset"));
  COFFER_TRY_VOID(flows::remove_limit(session.app.flows(), owner, asset));
  return CommandResult{.records = {{{"assetCode", asset.value()}, {"removed", true}}}};
}

Result<CommandResult> list_payment_limits(Session& session, store::Connection& db,
                                          const Arguments& arguments) {
  const Timestamp now = session.app.queue().now();
  std::vector<store::LimitRow> rows = store::list_limits(db);
  if (!arguments.values.empty()) {
    COFFER_TRY(const auto owner, owner_argument(arguments));
    std::erase_if(rows, [&](const store::LimitRow& row) {
      const Tenant tenant = store::tenant_by_key(db, row.holder.tenant);
      const bool of_tenant = !owner.association || (tenant.association == *owner.association &&
                                                    tenant.environment == owner.environment);
      return !of_tenant || row.application != owner.application || row.wallet != owner.wallet;
    });
  }
  return list_of({"holder", "environment", "associationId", "applicationId", "walletId",
                  "assetCode", "perPayment", "perDay", "usedToday", "countPerDay", "countToday",
                  "perMonth", "usedThisMonth", "countPerMonth", "countThisMonth"},
                 rows, [&](const store::LimitRow& row) { return limit_view(db, row, now); });
}

}  // namespace

std::vector<Command> limit_commands() {
  const std::vector<Argument> owner{
      identifying({}, option("association", "ID", "ID of the association, for all its payments")),
      identifying({}, option("application", "ID",
                             "ID of the application, for the payments that it submits")),
      identifying({}, option("wallet", "ID", "ID of the wallet, for payments out of it")),
      identifying({}, choice_of<Environment>(
                          "environment",
                          "Environment of the association's limit; without it, the sandbox"))};
  const Argument asset =
      identifying("assetCode", required_option("asset", "CODE", "Asset of the payments"));
  std::vector<Argument> removals;
  each_member<PaymentLimits>([&](const auto& row) { removals.push_back(removal_of(row)); });
  return {
      for_administrators(
          "limit set", "Set limits of payments; a value that is not given stays", "Set limit",
          "It applies to new payments. A value that you leave empty stays.", set,
          joined(owner, std::vector{asset}, arguments_of<PaymentLimits>(false), removals),
          {.hint = "List IDs with coffer association list, coffer application list and coffer "
                   "wallet list",
           .details = "A limit holds for one asset and counts the payments accepted after it was "
                      "first set. Payments beyond it return 422 limit-exceeded.",
           .present = "limit list"}),
      for_viewers("limit list", "List limits of payments and what is used", list_payment_limits,
                  owner),
      for_administrators("limit remove",
                         "Remove the limits of an association, application or "
                         "wallet in an asset",
                         "Remove limit",
                         "New payments are no longer limited. Its counters are deleted.", remove,
                         joined(owner, std::vector{asset}))};
}

}  // namespace coffer::cli
