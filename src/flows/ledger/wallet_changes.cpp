#include "flows/ledger/wallet_changes.h"

#include "auth/strkey.h"
#include "base/numbers.h"
#include "base/text/unicode.h"
#include "base/validation_errors.h"
#include "domain/payments/payment.h"
#include "flows/events.h"
#include "flows/ledger/market_changes.h"
#include "store/ledger/journal.h"

namespace coffer::flows {
namespace {

Problem unknown_wallet() { return Problem(Slug::not_found, "The wallet was not found."); }

/// Sixteen digits: readable, and enough to make collisions practically impossible.
std::string account_number(Random& random) {
  return zero_padded(random.next_u64() % 10'000'000'000'000'000ULL, 16);
}

Result<store::WalletRow> change_wallet(
    const Context& context, const Tenant& tenant, WalletId id,
    const std::function<Result<void>(store::WriteTx&, store::WalletRow&)>& change) {
  return context.write([&](store::WriteTx& tx) -> Result<store::WalletRow> {
    COFFER_TRY(auto wallet, existing(store::find_wallet(tx.db(), tenant, id), "wallet"));
    const store::WalletRow before = wallet;
    COFFER_TRY_VOID(change(tx, wallet));
    if (wallet == before) return wallet;  // also the time of its last change
    store::update_wallet(tx, tenant, wallet);
    wallet.updated_at = tx.now();
    if (wallet.status != before.status) {
      emit_event(tx, context.random, tenant.key, EventType::wallet_status_changed, wallet.key);
    }
    return wallet;
  });
}

Result<void> check_funding(const Tenant& tenant, const WalletFunding& funding) {
  ValidationErrors errors;
  if (!funding.transaction_id && tenant.environment == Environment::production) {
    errors.add(Slug::validation_failed, "transactionId",
               "is required for a production wallet, so that a repeated command credits nothing");
  }
  if (funding.transaction_id && !is_transaction_id(*funding.transaction_id)) {
    errors.add(Slug::validation_failed, "transactionId",
               "must have 1 to 64 characters, each a letter, a digit or one of . _ : -");
  }
  if (!funding.description) return errors.check();
  std::string fault = line_fault(*funding.description, kDescriptionMax);
  if (!fault.empty()) errors.add(Slug::validation_failed, "description", std::move(fault));
  return errors.check();
}

/// A replay credits nothing; a different funding with the same transaction ID is rejected.
Result<FundedWallet> replay(store::WalletRow wallet, const store::Funding& first,
                            const store::Funding& again) {
  Problem problem(Slug::transaction_id_conflict,
                  "This transaction ID was already used for a different credit. Use a new one.");
  const auto compare = [&](bool same, const char* field) {
    if (!same) problem.fields.push_back({field, "differs from the first command"});
  };
  compare(first.wallet == again.wallet, "walletId");
  compare(first.asset == again.asset, "assetCode");
  compare(first.amount == again.amount, "amount");
  compare(first.description == again.description, "description");
  if (!problem.fields.empty()) return unexpected(std::move(problem));
  return FundedWallet{std::move(wallet), true};
}

Result<FundedWallet> fund(store::WriteTx& tx, const Tenant& tenant, WalletId id,
                          const WalletFunding& funding) {
  auto wallet = store::find_wallet(tx.db(), tenant, id);
  if (!wallet) return unexpected(unknown_wallet());
  COFFER_TRY(const Asset asset, registered_asset(tx.db(), funding.asset));
  store::Funding row{wallet->key, asset.key, funding.amount, {}, funding.description};
  if (funding.transaction_id) {
    row.transaction_id = *funding.transaction_id;
    if (const auto first = store::find_funding(tx.db(), row.transaction_id)) {
      return replay(*std::move(wallet), *first, row);
    }
  }
  const auto account = store::find_trustline(tx.db(), wallet->key, asset.key);
  if (!account) {
    return unexpected(Problem(Slug::trustline_missing, "The wallet has no trustline for the asset.",
                              {{"assetCode", "has no trustline in the wallet"}}));
  }
  if (tenant.environment == Environment::production && wallet->status != WalletStatus::verified) {
    return unexpected(Slug::wallet_not_verified, "The wallet is " +
                                                     std::string(name(wallet->status)) +
                                                     "; only a Verified wallet can be funded.");
  }
  COFFER_TRY_VOID(issue_into(tx, {tenant.environment, tenant.key, *account, asset, funding.amount},
                             store::JournalKind::funding));
  if (funding.transaction_id || funding.description) store::insert_funding(tx, row);
  return FundedWallet{*std::move(wallet), false};
}

}  // namespace

Result<store::WalletRow> register_wallet(const Context& context, const Tenant& tenant,
                                         const NewWallet& wallet, bool validate_only) {
  const auth::KeyPair keys = auth::generate_key_pair(context.random);
  store::WalletRow row;
  row.name = wallet.name;
  row.account_number = account_number(context.random);
  row.public_key = keys.public_key.to_string();
  row.own_account = wallet.own_account;
  row.status = initial_wallet_status(wallet.own_account);
  row.metadata = wallet.metadata;
  row.asset_code = wallet.asset;
  if (tenant.environment == Environment::sandbox && row.status == WalletStatus::pending &&
      row.metadata && sandbox_review(*row.metadata) == SandboxReview::reject) {
    row.status = WalletStatus::rejected;
    row.reason = WalletStatusReason{"sandbox_rejected", "Rejected by the sandbox review."};
  }
  const auto insert = [&](store::WriteTx& tx) -> Result<store::WalletRow> {
    COFFER_TRY(const Asset asset, registered_asset(tx.db(), wallet.asset));
    COFFER_TRY_VOID(tx.check_quota(tenant, Quota::wallets));
    row.id = tx.new_id<WalletId>(context.random);
    row.sealed_seed =
        context.sealer.seal(keys.seed_text.reveal(), "wallet-seed:" + row.id.to_string());
    row.asset = asset.key;
    store::insert_wallet(tx, tenant, row);
    store::open_trustline(tx, tenant, row.key, asset.key);
    return row;
  };
  return context.write(insert, commit_unless(validate_only));
}

Result<store::WalletRow> update_wallet(const Context& context, const Tenant& tenant, WalletId id,
                                       const WalletUpdate& update) {
  return change_wallet(
      context, tenant, id, [&](store::WriteTx&, store::WalletRow& wallet) -> Result<void> {
        if (update.name) wallet.name = *update.name;
        if (!update.metadata || update.metadata == wallet.metadata) return {};
        wallet.metadata = update.metadata;
        wallet.status = status_after_metadata_change(wallet.status, wallet.own_account);
        if (wallet.status == WalletStatus::pending) wallet.reason.reset();
        return {};
      });
}

Result<TrustlineResult> add_trustline(const Context& context, const Tenant& tenant, WalletId id,
                                      const AssetCode& code) {
  return context.write([&](store::WriteTx& tx) -> Result<TrustlineResult> {
    COFFER_TRY(auto wallet, existing(store::find_wallet(tx.db(), tenant, id), "wallet"));
    COFFER_TRY(const Asset asset, registered_asset(tx.db(), code));
    const bool there = store::find_trustline(tx.db(), wallet.key, asset.key).has_value();
    if (!there) store::open_trustline(tx, tenant, wallet.key, asset.key);
    return TrustlineResult{std::move(wallet), !there};
  });
}

Result<store::WalletRow> review_wallet(const Context& context, const Tenant& tenant, WalletId id,
                                       const std::optional<WalletStatusReason>& reason) {
  const WalletStatus to = reason ? WalletStatus::rejected : WalletStatus::verified;
  return change_wallet(
      context, tenant, id, [&](store::WriteTx&, store::WalletRow& wallet) -> Result<void> {
        if (!may_change(wallet.status, to)) {
          return unexpected(Slug::conflict, "The wallet is " + std::string(name(wallet.status)) +
                                                "; only a Pending wallet can be reviewed.");
        }
        if (tenant.environment == Environment::sandbox && wallet.metadata &&
            sandbox_review(*wallet.metadata) == SandboxReview::stay_pending) {
          return unexpected(Slug::conflict,
                            "In the sandbox, a wallet whose name ends in 001 stays Pending.");
        }
        wallet.status = to;
        wallet.reason = reason;
        return {};
      });
}

Result<FundedWallet> fund_wallet(const Context& context, const Tenant& tenant, WalletId id,
                                 const WalletFunding& funding) {
  COFFER_TRY_VOID(check_funding(tenant, funding));
  return context.write([&](store::WriteTx& tx) { return fund(tx, tenant, id, funding); });
}

Result<store::WalletRow> fund_sandbox_wallet(const Context& context, const Tenant& tenant,
                                             WalletId id, const AssetCode& asset, Amount amount) {
  if (tenant.environment != Environment::sandbox) {
    return unexpected(Slug::conflict, "Only sandbox wallets can be funded this way.");
  }
  const WalletFunding funding{asset, amount, {}, {}};
  return context.write([&](store::WriteTx& tx) -> Result<store::WalletRow> {
    COFFER_TRY_VOID(tx.check_quota(tenant, Quota::file_bytes));
    COFFER_TRY(auto funded, fund(tx, tenant, id, funding));
    return std::move(funded.wallet);
  });
}

}  // namespace coffer::flows
