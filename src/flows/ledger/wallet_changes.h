// All changes of a wallet other than payments: registration, updates, trustlines, the review, and
// funding by the operator.
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
  std::optional<Metadata> metadata;  // required unless own_account
};

/// Creates the wallet with a new key pair (the seed sealed) and its first trustline.
/// `validation-failed` on assetCode if the asset is unknown. With `validate_only`, runs every check
/// and stores nothing.
Result<store::WalletRow> register_wallet(const Context& context, const Tenant& tenant,
                                         const NewWallet& wallet, bool validate_only = false);

struct WalletUpdate {
  std::optional<std::string> name;
  std::optional<Metadata> metadata;
};
/// A change of a third party's metadata returns the wallet to the review.
Result<store::WalletRow> update_wallet(const Context& context, const Tenant& tenant, WalletId id,
                                       const WalletUpdate& update);

struct TrustlineResult {
  store::WalletRow wallet;
  bool created = false;  // false: the trustline existed before
};
Result<TrustlineResult> add_trustline(const Context& context, const Tenant& tenant, WalletId id,
                                      const AssetCode& asset);

/// Records the result of the review. `reason` is required for a rejection and must be empty
/// otherwise. `conflict` unless the wallet is Pending, and for sandbox names that stay Pending
/// (docs/contract.md#sandbox).
Result<store::WalletRow> review_wallet(const Context& context, const Tenant& tenant, WalletId id,
                                       const std::optional<WalletStatusReason>& reason);

struct WalletFunding {
  AssetCode asset;
  Amount amount;
  /// The operator's ID of the funding, as for payments; required in production. A repetition with
  /// the same ID credits nothing.
  std::optional<std::string> transaction_id;
  std::optional<std::string> description;  // shown on the wallet's statement; at most 140 bytes
};
struct FundedWallet {
  store::WalletRow wallet;
  bool replayed = false;  // credited earlier under this transaction ID
};
/// Credits a wallet from the issuance account, for an operator. `validation-failed`,
/// `trustline-missing`, `wallet-not-verified` (in production), `amount-precision`,
/// `amount-out-of-range`, `transaction-id-conflict` if the ID belongs to a different funding.
Result<FundedWallet> fund_wallet(const Context& context, const Tenant& tenant, WalletId id,
                                 const WalletFunding& funding);
/// The same for an integrator, in the sandbox only (otherwise `conflict`); `quota-exceeded`.
Result<store::WalletRow> fund_sandbox_wallet(const Context& context, const Tenant& tenant,
                                             WalletId id, const AssetCode& asset, Amount amount);

}  // namespace coffer::flows
