#include "flows/wallet_changes.h"

#include "auth/strkey.h"
#include "flows/events.h"
#include "flows/market_changes.h"
#include "store/catalog.h"
#include "store/journal.h"

namespace coffer::flows {
namespace {

Problem unknown_wallet() { return Problem(Slug::not_found, "There is no such wallet."); }

/// Sixteen digits for people; enough that two wallets never draw the same.
std::string account_number(Random& random) {
  std::string digits = std::to_string(random.next_u64() % 10'000'000'000'000'000ULL);
  return std::string(16 - digits.size(), '0') + digits;
}

Result<store::WalletRow> change_wallet(
    const Context& context, const Tenant& tenant, WalletId id,
    const std::function<Result<void>(store::WriteTx&, store::WalletRow&)>& change) {
  return store::run_for<store::WalletRow>(
      context.queue, [&](store::WriteTx& tx) -> Result<store::WalletRow> {
        auto wallet = store::find_wallet(tx.db(), tenant, id);
        if (!wallet) return unexpected(unknown_wallet());
        const WalletStatus before = wallet->status;
        COFFER_TRY_VOID(change(tx, *wallet));
        store::update_wallet(tx, tenant, *wallet);
        wallet->updated_at = tx.now();
        if (wallet->status != before) {
          emit_wallet_event(tx, context.random, tenant.key, wallet->key);
        }
        return *std::move(wallet);
      });
}

}  // namespace

Result<store::WalletRow> register_wallet(const Context& context, const Tenant& tenant,
                                         const NewWallet& wallet) {
  const auth::KeyPair keys = auth::generate_key_pair(context.random);
  store::WalletRow row;
  row.id = context.random.id<WalletId>(context.clock.now());
  row.name = wallet.name;
  row.account_number = account_number(context.random);
  row.public_key = keys.public_key.to_string();
  row.sealed_seed =
      context.sealer.seal(keys.seed_text.reveal(), "wallet-seed:" + row.id.to_string());
  row.own_account = wallet.own_account;
  row.status = initial_wallet_status(wallet.own_account);
  row.metadata = wallet.metadata;
  row.asset_code = wallet.asset;
  if (tenant.environment == Environment::sandbox && row.status == WalletStatus::pending &&
      row.metadata && sandbox_review(*row.metadata) == SandboxReview::reject) {
    row.status = WalletStatus::rejected;
    row.reason = WalletStatusReason{"sandbox_rejected", "Rejected by the sandbox review."};
  }
  return store::run_for<store::WalletRow>(
      context.queue, [&](store::WriteTx& tx) -> Result<store::WalletRow> {
        COFFER_TRY(const Asset asset, registered_asset(tx.db(), wallet.asset));
        row.asset = asset.key;
        store::insert_wallet(tx, tenant, row);
        store::open_trustline(tx, tenant, row.key, asset.key);
        return row;
      });
}

Result<store::WalletRow> update_wallet(const Context& context, const Tenant& tenant, WalletId id,
                                       const WalletUpdate& update) {
  return change_wallet(context, tenant, id,
                       [&](store::WriteTx&, store::WalletRow& wallet) -> Result<void> {
                         if (update.name) wallet.name = *update.name;
                         if (!update.metadata || update.metadata == wallet.metadata) return {};
                         wallet.metadata = update.metadata;
                         wallet.status =
                             status_after_metadata_change(wallet.status, wallet.own_account);
                         if (wallet.status == WalletStatus::pending) wallet.reason.reset();
                         return {};
                       });
}

Result<TrustlineResult> add_trustline(const Context& context, const Tenant& tenant, WalletId id,
                                      const AssetCode& code) {
  return store::run_for<TrustlineResult>(
      context.queue, [&](store::WriteTx& tx) -> Result<TrustlineResult> {
        auto wallet = store::find_wallet(tx.db(), tenant, id);
        if (!wallet) return unexpected(unknown_wallet());
        COFFER_TRY(const Asset asset, registered_asset(tx.db(), code));
        const bool there = store::find_trustline(tx.db(), wallet->key, asset.key).has_value();
        if (!there) store::open_trustline(tx, tenant, wallet->key, asset.key);
        return TrustlineResult{*std::move(wallet), !there};
      });
}

Result<store::WalletRow> review_wallet(const Context& context, const Tenant& tenant, WalletId id,
                                       const std::optional<WalletStatusReason>& reason) {
  const WalletStatus to = reason ? WalletStatus::rejected : WalletStatus::verified;
  return change_wallet(
      context, tenant, id, [&](store::WriteTx&, store::WalletRow& wallet) -> Result<void> {
        if (!may_change(wallet.status, to)) {
          return unexpected(Slug::conflict, "The wallet is " + std::string(name(wallet.status)) +
                                                "; only a Pending wallet is reviewed.");
        }
        if (tenant.environment == Environment::sandbox && wallet.metadata &&
            sandbox_review(*wallet.metadata) == SandboxReview::stay_pending) {
          return unexpected(Slug::conflict, "In the sandbox a name ending in 001 stays Pending.");
        }
        wallet.status = to;
        wallet.reason = reason;
        return {};
      });
}

Result<store::WalletRow> fund_wallet(const Context& context, const Tenant& tenant, WalletId id,
                                     const AssetCode& code, Amount amount) {
  if (tenant.environment != Environment::sandbox) {
    return unexpected(Slug::conflict, "Only sandbox wallets can be funded this way.");
  }
  return store::run_for<store::WalletRow>(
      context.queue, [&](store::WriteTx& tx) -> Result<store::WalletRow> {
        auto wallet = store::find_wallet(tx.db(), tenant, id);
        if (!wallet) return unexpected(unknown_wallet());
        COFFER_TRY(const Asset asset, registered_asset(tx.db(), code));
        const auto account = store::find_trustline(tx.db(), wallet->key, asset.key);
        if (!account) {
          return unexpected(Problem(Slug::trustline_missing, "The wallet has no trustline.",
                                    {{"assetCode", "the wallet has no trustline for it"}}));
        }
        COFFER_TRY_VOID(issue_into(tx, {tenant.environment, tenant.key, *account, asset, amount},
                                   store::JournalKind::funding));
        return *std::move(wallet);
      });
}

}  // namespace coffer::flows
