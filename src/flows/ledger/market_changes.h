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
  std::string issuer;  // G... key; empty: a new key pair, whose seed is discarded
};
/// `validation-failed` with the field, or `conflict` if the code is already registered.
Result<Asset> register_asset(const Context& context, const NewAsset& asset);

/// One unit of `sell` is converted to `rate` units of `buy`, from the next settlement on.
/// `validation-failed` if an asset is not registered; `not-found` if there is no rate to remove.
Result<void> set_rate(const Context& context, Environment environment, const AssetCode& sell,
                      const AssetCode& buy, Rate rate);
Result<void> remove_rate(const Context& context, Environment environment, const AssetCode& sell,
                         const AssetCode& buy);

/// Moves `amount` from issuance to the market's liquidity account of the asset.
Result<void> add_liquidity(const Context& context, Environment environment, const AssetCode& asset,
                           Amount amount);

// For other flows, inside their command ----------------------------------------------------------

/// `validation-failed` on assetCode if the code is not registered.
Result<Asset> registered_asset(store::Connection& db, const AssetCode& code);

/// Whether the ledger can hold the value that `posting` brings in. In each environment, the total
/// of an asset in circulation must fit into one account. So no credit between accounts can
/// overflow, and only value from outside must be checked. Returns true if the debited account
/// cannot become negative, because then no value enters.
bool may_enter(store::WriteTx& tx, Environment environment, const Posting& posting);

/// New value for one account, from the issuance account of its asset.
struct Issue {
  Environment environment;
  std::int64_t tenant;  // the tenant of the journal row
  AccountKey account;
  const Asset& asset;
  Amount amount;
};
/// `amount-precision` or `amount-out-of-range` on field `amount`.
Result<void> issue_into(store::WriteTx& tx, const Issue& issue, store::JournalKind kind);

}  // namespace coffer::flows
