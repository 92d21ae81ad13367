// The operator's market: assets, rates and liquidity.
#pragma once

#include <string>

#include "domain/identity/tenant.h"
#include "domain/ledger/money.h"
#include "flows/context.h"
#include "store/ledger/journal.h"

namespace coffer::flows {

struct NewAsset {
  std::string code;
  std::string name;
  int decimals = 7;
  std::string issuer;  // G... key; empty: one is made, its seed is not kept
};
/// `validation-failed` naming the field, or `conflict` when the code is taken.
Result<Asset> register_asset(const Context& context, const NewAsset& asset);

/// One unit of `sell` gives `rate` of `buy`, from the next settlement on. `validation-failed` when
/// an asset is not registered; `not-found` when there is no rate to remove.
Result<void> set_rate(const Context& context, Environment environment, const AssetCode& sell,
                      const AssetCode& buy, Rate rate);
Result<void> remove_rate(const Context& context, Environment environment, const AssetCode& sell,
                         const AssetCode& buy);

/// Moves `amount` from issuance into the market's liquidity account of the asset.
Result<void> add_liquidity(const Context& context, Environment environment, const AssetCode& asset,
                           Amount amount);

// For other flows, inside their command ----------------------------------------------------------

/// `validation-failed` on assetCode when the code is not registered.
Result<Asset> registered_asset(store::Connection& db, const AssetCode& code);

/// Whether the ledger can hold what `posting` brings in. The bound: all that circulates of an asset
/// in an environment fits into one account. So no credit between accounts can overflow, and only
/// what enters from outside is judged. True where the debited account may not be negative: nothing
/// enters.
bool may_enter(store::WriteTx& tx, Environment environment, const Posting& posting);

/// New value on one account, from the issuance account of its asset.
struct Issue {
  Environment environment;
  std::int64_t tenant;  // whose journal row it is
  AccountKey account;
  const Asset& asset;
  Amount amount;
};
/// `amount-precision` or `amount-out-of-range` on field `amount`.
Result<void> issue_into(store::WriteTx& tx, const Issue& issue, store::JournalKind kind);

}  // namespace coffer::flows
