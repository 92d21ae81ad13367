// Rows that payment commands read repeatedly, kept in memory between commits.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <unordered_map>
#include <utility>

#include "domain/identity/tenant.h"
#include "domain/ids.h"
#include "domain/ledger/ledger.h"
#include "domain/ledger/money.h"
#include "domain/ledger/wallet.h"
#include "store/file/connection.h"

namespace coffer::store {

/// The part of a wallet that payments need.
struct WalletBrief {
  std::int64_t key = 0;
  WalletStatus status = WalletStatus::pending;
  bool own_account = false;
};

/// Only for the writer's thread. Contains only rows that exist. Payments do not change these rows,
/// and the commit queue calls `forget` after every other command and after a rollback, so the
/// content always matches the file.
class KnownRows {
 public:
  explicit KnownRows(Connection& writer) : writer_(writer) {}
  KnownRows(const KnownRows&) = delete;
  KnownRows& operator=(const KnownRows&) = delete;

  /// Like `find_wallet_brief`.
  std::optional<WalletBrief> wallet(const Tenant& tenant, WalletId id);
  /// Like `find_trustline`.
  std::optional<AccountKey> trustline(std::int64_t wallet, std::int64_t asset);
  /// Like `find_asset`; nullptr if the code is not registered. Valid until `forget`.
  const Asset* asset(const AssetCode& code);
  /// True if a webhook of any tenant is active.
  bool has_webhooks();
  /// Like `store::has_limits`.
  bool has_limits(std::int64_t tenant);

  void forget();

 private:
  struct Wallet {
    std::int64_t tenant = 0;
    WalletBrief brief;
  };
  Connection& writer_;
  std::unordered_map<Uuid, Wallet> wallets_;
  std::map<std::pair<std::int64_t, std::int64_t>, AccountKey> trustlines_;  // wallet and asset
  std::map<AssetCode, Asset> assets_;
  std::optional<bool> has_webhooks_;
  std::unordered_map<std::int64_t, bool> has_limits_;
};

}  // namespace coffer::store
