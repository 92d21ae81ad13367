// Everything that changes a wallet besides payments: registering, updating, trustlines, the KYC
// review, and funding by the operator.
#pragma once

#include <optional>
#include <string>

#include "domain/identity/tenant.h"
#include "domain/ledger/wallet.h"
#include "flows/context.h"
#include "store/ledger/wallets.h"

namespace coffer::flows {

struct NewWallet {
  std::string name;
  AssetCode asset;
  bool own_account = false;
  std::optional<Metadata> metadata;  // required by the caller unless own_account
};

/// Creates the wallet with a key pair of its own (the seed sealed) and its first trustline.
/// `validation-failed` on assetCode when the asset is unknown.
Result<store::WalletRow> register_wallet(const Context& context, const Tenant& tenant,
                                         const NewWallet& wallet);

struct WalletUpdate {
  std::optional<std::string> name;
  std::optional<Metadata> metadata;
};
/// A change of a third party's metadata sends the wallet back to the review.
Result<store::WalletRow> update_wallet(const Context& context, const Tenant& tenant, WalletId id,
                                       const WalletUpdate& update);

struct TrustlineResult {
  store::WalletRow wallet;
  bool created = false;  // false: it was there before
};
Result<TrustlineResult> add_trustline(const Context& context, const Tenant& tenant, WalletId id,
                                      const AssetCode& asset);

/// The review's outcome. `reason` is required for and only for a rejection. `conflict` unless the
/// wallet is Pending, and for sandbox names that stay Pending (docs/contract.md#sandbox).
Result<store::WalletRow> review_wallet(const Context& context, const Tenant& tenant, WalletId id,
                                       const std::optional<WalletStatusReason>& reason);

struct WalletFunding {
  AssetCode asset;
  Amount amount;
  /// The operator's own, as of a payment; required in production. The same one again credits
  /// nothing.
  std::optional<std::string> transaction_id;
  std::optional<std::string> description;  // on the wallet's statement; at most 140 bytes
};
struct FundedWallet {
  store::WalletRow wallet;
  bool replayed = false;  // it was credited before, under this transaction id
};
/// Credits a wallet from the issuance account, on behalf of an operator. `validation-failed`,
/// `trustline-missing`, `wallet-not-verified` (in production), `amount-precision`,
/// `amount-out-of-range`, `transaction-id-conflict` when the id names another funding.
Result<FundedWallet> fund_wallet(const Context& context, const Tenant& tenant, WalletId id,
                                 const WalletFunding& funding);
/// The same for an integrator, in the sandbox only (`conflict` otherwise); `quota-exceeded`.
Result<store::WalletRow> fund_sandbox_wallet(const Context& context, const Tenant& tenant,
                                             WalletId id, const AssetCode& asset, Amount amount);

}  // namespace coffer::flows
