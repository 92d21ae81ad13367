#include "flows/ledger/market_changes.h"

#include <algorithm>

#include "auth/strkey.h"
#include "store/ledger/catalog.h"

namespace coffer::flows {
namespace {

Problem field_problem(std::string field, std::string message) {
  return Problem(Slug::validation_failed, field + " " + message, {{field, message}});
}

/// The total value that entered the ledger through an account with this balance.
Result<Amount> brought_in(Amount balance) { return Amount().sub(std::min(balance, Amount())); }

}  // namespace

Result<Asset> register_asset(const Context& context, const NewAsset& asset) {
  const auto code = AssetCode::parse(asset.code);
  if (!code) return unexpected(field_problem("code", "must be 1 to 12 letters or digits"));
  std::string fault = name_fault(asset.name);
  if (!fault.empty()) return unexpected(field_problem("name", std::move(fault)));
  if (asset.decimals < 0 || asset.decimals > Amount::kScale) {
    return unexpected(field_problem("decimals", "must be 0 to 7"));
  }
  if (!asset.issuer.empty() && !auth::PublicKey::parse(asset.issuer)) {
    return unexpected(field_problem(
        "issuer", "must be a public key: G, 55 more characters and a correct checksum"));
  }
  const std::string issuer = asset.issuer.empty()
                                 ? auth::generate_key_pair(context.random).public_key.to_string()
                                 : asset.issuer;
  return context.write([&](store::WriteTx& tx) -> Result<Asset> {
    if (store::find_asset(tx.db(), *code)) {
      return unexpected(Slug::conflict, "The asset " + code->value() + " already exists.");
    }
    return store::insert_asset(tx, {0, *code, issuer, asset.name, asset.decimals});
  });
}

Result<void> set_rate(const Context& context, Environment environment, const AssetCode& sell,
                      const AssetCode& buy, Rate rate) {
  if (sell == buy) return unexpected(field_problem("buy", "must differ from the asset sold"));
  return context.write([&](store::WriteTx& tx) -> Result<void> {
    COFFER_TRY(const Asset sold, registered_asset(tx.db(), sell));
    COFFER_TRY(const Asset bought, registered_asset(tx.db(), buy));
    store::put_rate(tx, environment, {sold.key, bought.key, rate});
    return {};
  });
}

Result<void> remove_rate(const Context& context, Environment environment, const AssetCode& sell,
                         const AssetCode& buy) {
  return context.write([&](store::WriteTx& tx) -> Result<void> {
    COFFER_TRY(const Asset sold, registered_asset(tx.db(), sell));
    COFFER_TRY(const Asset bought, registered_asset(tx.db(), buy));
    if (!store::delete_rate(tx, environment, sold.key, bought.key)) {
      return unexpected(Slug::not_found, "The rate was not found.");
    }
    return {};
  });
}

Result<void> add_liquidity(const Context& context, Environment environment, const AssetCode& code,
                           Amount amount) {
  return context.write([&](store::WriteTx& tx) -> Result<void> {
    COFFER_TRY(const Asset asset, registered_asset(tx.db(), code));
    const AccountKey pool =
        store::operator_account(tx, environment, AccountKind::liquidity, asset.key);
    COFFER_TRY_VOID(
        issue_into(tx, {environment, store::operator_tenant(environment), pool, asset, amount},
                   store::JournalKind::liquidity));
    return {};
  });
}

Result<Asset> registered_asset(store::Connection& db, const AssetCode& code) {
  const auto asset = store::find_asset(db, code);
  if (!asset) {
    return unexpected(field_problem("assetCode", "is not a registered asset: " + code.value()));
  }
  return *asset;
}

bool may_enter(store::WriteTx& tx, Environment environment, const Posting& posting) {
  const AccountState from = tx.balances().get(posting.debit);
  if (!may_be_negative(from.kind)) return true;
  const auto after = from.balance.sub(posting.amount);
  auto circulating = after ? brought_in(*after) : Result<Amount>(after);
  for (const AccountKind kind : {AccountKind::issuance, AccountKind::clearing}) {
    for (const AccountKey account :
         store::operator_accounts(tx.db(), environment, kind, from.asset)) {
      if (account == from.key || !circulating) continue;
      const auto more = brought_in(tx.balances().get(account).balance);
      circulating = more ? circulating->add(*more) : more;
    }
  }
  return circulating.has_value();
}

Result<void> issue_into(store::WriteTx& tx, const Issue& issue, store::JournalKind kind) {
  if (truncate_to(issue.amount, issue.asset.decimals) != issue.amount) {
    return unexpected(
        Problem(Slug::amount_precision, "The amount has too many decimal places.",
                {{"amount", issue.asset.code.value() + " has " +
                                std::to_string(issue.asset.decimals) + " decimal places"}}));
  }
  const AccountKey issuance =
      store::operator_account(tx, issue.environment, AccountKind::issuance, issue.asset.key);
  const store::Movement movement{{issuance, issue.account, issue.amount}, 0};
  if (!may_enter(tx, issue.environment, movement.posting)) {
    return unexpected(
        Problem(Slug::amount_out_of_range, "The amount is too large.",
                {{"amount", "exceeds the amount of the asset that the ledger can hold"}}));
  }
  store::post(tx, issue.tenant, kind, {&movement, 1});
  return {};
}

}  // namespace coffer::flows
