#include "flows/payments/limits.h"

#include <algorithm>
#include <map>

#include "store/identity/tenants.h"
#include "store/ledger/catalog.h"
#include "store/ledger/known_rows.h"

namespace coffer::flows {
namespace {

LimitName name_of(const store::LimitRow& row) {
  const std::string_view holder = row.holder.wallet        ? "wallet"
                                  : row.holder.application ? "application"
                                                           : "association";
  return {holder, row.asset.code.value(), row.asset.decimals};
}

Result<store::LimitHolder> holder_of(store::Connection& db, const LimitOwner& owner,
                                     const AssetCode& code) {
  COFFER_TRY(const Asset asset, existing(store::find_asset(db, code), "asset"));
  if (owner.association) {
    COFFER_TRY(
        const Tenant tenant,
        existing(store::find_tenant(db, *owner.association, owner.environment), "association"));
    return store::LimitHolder{tenant.key, {}, {}, asset.key};
  }
  if (owner.application) {
    COFFER_TRY(const auto row,
               existing(store::find_application(db, *owner.application), "application"));
    if (!row.tenant) {
      return unexpected(Slug::conflict, "The application has no association yet.");
    }
    return store::LimitHolder{row.tenant->key, row.key, {}, asset.key};
  }
  COFFER_TRY(const Tenant tenant, existing(store::tenant_of_wallet(db, *owner.wallet), "wallet"));
  const auto wallet = store::find_wallet_brief(db, tenant, *owner.wallet);
  return store::LimitHolder{tenant.key, {}, wallet->key, asset.key};
}

Result<void> check_new(const PaymentLimits& limits, const Asset& asset) {
  Problem problem(Slug::validation_failed, "The limit is not valid.");
  bool any = false;
  each_member<PaymentLimits>([&](const auto& row) {
    const auto& value = row.of(limits);
    any = any || value.has_value();
    if constexpr (std::is_same_v<decltype(value), const std::optional<Amount>&>) {
      if (value && truncate_to(*value, asset.decimals) != *value) {
        problem.fields.push_back(
            {std::string(row.name), decimals_rule(asset.code.value(), asset.decimals)});
      }
    } else if (value && (*value < 0 || *value > row.max)) {
      problem.fields.push_back(
          {std::string(row.name), "must be from 0 to " + std::to_string(row.max)});
    }
  });
  if (!any) {
    return unexpected(Slug::validation_failed,
                      "No limit is left. Remove it with coffer limit remove.");
  }
  if (problem.fields.empty()) return {};
  return unexpected(std::move(problem));
}

}  // namespace

Result<store::LimitRow> set_limit(const Context& context, const LimitOwner& owner,
                                  const AssetCode& asset, const PaymentLimitsChange& change) {
  return context.write([&](store::WriteTx& tx) -> Result<store::LimitRow> {
    COFFER_TRY(const auto holder, holder_of(tx.db(), owner, asset));
    const auto present = store::find_limit(tx.db(), holder);
    PaymentLimits limits = present ? present->limits : PaymentLimits();
    change.apply_to(limits);
    COFFER_TRY_VOID(check_new(limits, *store::find_asset(tx.db(), asset)));
    store::put_limit(tx, holder, limits);
    return store::find_limit(tx.db(), holder).value();
  });
}

Result<void> remove_limit(const Context& context, const LimitOwner& owner, const AssetCode& asset) {
  return context.write([&](store::WriteTx& tx) -> Result<void> {
    COFFER_TRY(const auto holder, holder_of(tx.db(), owner, asset));
    if (store::delete_limit(tx, holder)) return {};
    return unexpected(Slug::not_found, "The limit was not found.");
  });
}

Result<std::optional<store::LimitRow>> limit_of(store::Connection& db, const LimitOwner& owner,
                                                const AssetCode& asset) {
  COFFER_TRY(const auto holder, holder_of(db, owner, asset));
  return store::find_limit(db, holder);
}

Result<std::vector<store::LimitRow>> take_limits(store::WriteTx& tx, const Caller& caller,
                                                 const PaymentPlan& plan) {
  std::vector<store::LimitRow> out;
  std::map<std::int64_t, LimitUse> before;
  if (!tx.known().has_limits(caller.tenant.key)) return out;
  const bool multi = has_legs(plan.request.type);
  for (std::size_t i = 0; i < plan.keys.legs.size(); ++i) {
    const auto& leg = plan.keys.legs[i];
    if (!leg.source_wallet) continue;
    const std::string field = is_quoted(plan.request.type) ? "quoteId"
                              : multi ? "transfers[" + std::to_string(i) + "].amount"
                                      : "amount";
    for (auto& found : store::limits_on(
             tx.db(), {caller.tenant.key, caller.application_key, leg.source_wallet, *leg.asset})) {
      auto row = std::ranges::find(out, found.key, &store::LimitRow::key);
      if (row == out.end()) {
        found.use = current_use(found.use, tx.now());
        before.emplace(found.key, found.use);
        row = out.insert(out.end(), std::move(found));
      }
      COFFER_TRY_VOID(take_of_limit(row->limits, row->use, plan.request.legs[i].amount,
                                    name_of(*row), field, before[row->key]));
    }
  }
  return out;
}

Result<void> check_association_limit(store::WriteTx& tx, const Tenant& tenant,
                                     const ConnectorTerms& connector, Amount amount) {
  const bool off_ramp = connector.direction == Direction::off_ramp;
  if (!off_ramp || !tx.known().has_limits(tenant.key)) return {};
  const auto row = store::find_limit(tx.db(), {tenant.key, {}, {}, connector.asset.key});
  if (!row) return {};
  LimitUse use = current_use(row->use, tx.now());
  return take_of_limit(row->limits, use, amount, name_of(*row), "amount");
}

}  // namespace coffer::flows
