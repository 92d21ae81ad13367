// Wallets and the compliance details of third-party wallets.
#pragma once

#include <optional>
#include <string>

#include "domain/identity/tenant.h"
#include "domain/ledger/wallet.h"
#include "store/commits/write_tx.h"
#include "store/ledger/journal.h"
#include "store/ledger/known_rows.h"
#include "store/rows/page.h"

namespace coffer::store {

struct WalletRow {
  std::int64_t key = 0;
  WalletId id;
  std::string name;
  std::string account_number;
  std::string public_key;
  std::string sealed_seed;  // sealed for the context "wallet-seed:<id>"; opened only to sign
  std::int64_t asset = 0;
  AssetCode asset_code;
  bool own_account = false;
  WalletStatus status = WalletStatus::pending;
  std::optional<WalletStatusReason> reason;
  std::optional<Metadata> metadata;
  Timestamp created_at;
  Timestamp updated_at;
  bool operator==(const WalletRow&) const = default;
};

struct WalletFilter {
  std::optional<AssetCode> asset;  // only wallets that have a trustline for this asset
  std::optional<WalletStatus> status;
};

std::optional<WalletRow> find_wallet(Connection& db, const Tenant& tenant, WalletId id);
/// For events. Does not check the tenant, so never call it for an integrator's route.
std::optional<WalletRow> find_wallet_by_key(Connection& db, std::int64_t wallet);
std::optional<WalletBrief> find_wallet_brief(Connection& db, const Tenant& tenant, WalletId id);
/// Newest first.
RowPage<WalletRow> list_wallets(Connection& db, const Tenant& tenant, const WalletFilter& filter,
                                const PageAt& page);
/// The owner of a ledger address, in any association of the environment.
struct AddressOwner {
  std::int64_t wallet = 0;
  WalletStatus status = WalletStatus::pending;
};
std::optional<AddressOwner> find_address(Connection& db, Environment environment,
                                         std::string_view public_key);
WalletStatus wallet_status(Connection& db, std::int64_t wallet);
/// The caller's wallet with this ledger address.
std::optional<WalletBrief> find_wallet_by_public_key(Connection& db, const Tenant& tenant,
                                                     std::string_view public_key);
/// The tenant of the wallet, for the operator's commands.
std::optional<Tenant> tenant_of_wallet(Connection& db, WalletId id);

/// Writes the wallet and its metadata, but not its trustline. Sets `key`.
void insert_wallet(WriteTx& tx, const Tenant& tenant, WalletRow& row);
/// Replaces name, status, reason and metadata.
void update_wallet(WriteTx& tx, const Tenant& tenant, const WalletRow& row);

}  // namespace coffer::store
