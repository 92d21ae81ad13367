#include "store/ledger/wallets.h"

#include "base/check.h"
#include "store/identity/tenants.h"
#include "store/rows/columns.h"
#include "store/rows/guarded_rows.h"
#include "store/rows/key_walk.h"

namespace coffer::store {
namespace {

constexpr Column<WalletRow> kWalletColumns[] = {
    joined<&WalletRow::key>("w.wallet"),
    column<&WalletRow::id>("w.id"),
    column<&WalletRow::name>("w.name"),
    column<&WalletRow::account_number>("w.account_number"),
    column<&WalletRow::public_key>("w.public_key"),
    blob_column<&WalletRow::sealed_seed>("w.sealed_seed"),
    column<&WalletRow::asset>("w.asset"),
    joined<&WalletRow::asset_code>("s.code"),
    column<&WalletRow::own_account>("w.own_account"),
    column<&WalletRow::status>("w.status"),
    {"w.status_code",
     [](const Query& q, int at, WalletRow& row) {
       row.reason = WalletStatusReason{q.text(at), {}};
     }},
    {"w.status_message",
     [](const Query& q, int at, WalletRow& row) {
       if (row.reason) row.reason->message = q.text(at);
     }},
    column<&WalletRow::created_at>("w.created_at"),
    column<&WalletRow::updated_at>("w.updated_at"),
};

/// `entity_type` determines which of the columns have values.
const TextColumns<PersonMetadata, BusinessMetadata> kMetadata;

const std::string kSelectWallet = select(kWalletColumns) + ", m.entity_type" +
                                  select_texts("m", kMetadata.names()) +
                                  " FROM wallets w JOIN assets s ON s.asset = w.asset"
                                  " LEFT JOIN wallet_metadata m ON m.wallet = w.wallet";
const std::string kFindWallet = kSelectWallet + " WHERE w.id = ? AND w.tenant = ?";
const std::string kWalletByKey = kSelectWallet + " WHERE w.wallet = ?";
const std::string kInsertWallet = ColumnList{"tenant"}.add(kWalletColumns).insert_into("wallets");
const std::string kInsertMetadata =
    ColumnList{"wallet", "entity_type"}.add(kMetadata).insert_into("wallet_metadata");
constexpr const char* kBriefById =
    "SELECT wallet, status, own_account FROM wallets WHERE id = ? AND tenant = ?";

constexpr KeyIndex kOfTenant =
    COFFER_KEY_INDEX("wallet", "wallets INDEXED BY wallets_by_tenant", "tenant = ?3");
constexpr KeyIndex kOfAsset = COFFER_KEY_INDEX("wallet", "accounts INDEXED BY accounts_by_asset",
                                               "tenant = ?3 AND asset = ?4");
constexpr KeyIndex kOfStatus = COFFER_KEY_INDEX("wallet", "wallets INDEXED BY wallets_not_verified",
                                                "status = ?3 AND status <> 1");
static_assert(stored(WalletStatus::verified) == 1);
constexpr const char* kIsOfTenant =
    "SELECT 1 FROM wallets w WHERE w.wallet = ?1 AND w.tenant = ?2 AND (?3 IS NULL OR EXISTS"
    " (SELECT 1 FROM accounts a WHERE a.wallet = w.wallet AND a.asset = ?3))";

constexpr const char* kFindAddress =
    "SELECT w.wallet, w.status FROM wallets w JOIN tenants t ON t.tenant = w.tenant"
    " WHERE w.public_key = ? AND t.environment = ?";
constexpr const char* kBriefByPublicKey =
    "SELECT wallet, status, own_account FROM wallets WHERE public_key = ? AND tenant = ?";
constexpr const char* kUpdateWallet =
    "UPDATE wallets SET name = ?, status = ?, status_code = ?, status_message = ?, updated_at = ?"
    " WHERE id = ? AND tenant = ?";

WalletRow wallet_row(const Query& q) {
  auto row = read_row<WalletRow>(q, kWalletColumns);
  const int type = std::size(kWalletColumns);
  if (!q.is_null(type)) {
    row.metadata = kMetadata.read(q, type + 1, static_cast<std::size_t>(q.integer(type)));
  }
  return row;
}

void put_metadata(WriteTx& tx, const WalletRow& row) {
  tx.db().run("DELETE FROM wallet_metadata WHERE wallet = ?", row.key);
  if (!row.metadata) return;
  Query query(tx.db(), kInsertMetadata.c_str(), row.key, entity_type(*row.metadata));
  kMetadata.bind(query, 3, *row.metadata);
  query.run();
}

std::optional<WalletBrief> one_brief(Connection& db, const char* sql, const Tenant& tenant,
                                     std::string_view column, const auto& value) {
  const auto found =
      first_of<WalletBrief, std::int64_t, WalletStatus, bool>(db, sql, value, tenant.key);
  if (found) {
    require_intact(db, "wallets", found->key, {{column, value}, {"tenant", tenant.key}});
  }
  return found;
}

}  // namespace

std::optional<WalletRow> find_wallet(Connection& db, const Tenant& tenant, WalletId id) {
  Query query(db, kFindWallet.c_str(), id, tenant.key);
  if (!query.step()) return std::nullopt;
  WalletRow row = wallet_row(query);
  require_intact(db, "wallets", row.key, {{"id", id}});
  return row;
}

std::optional<WalletRow> find_wallet_by_key(Connection& db, std::int64_t wallet) {
  Query query(db, kWalletByKey.c_str(), wallet);
  return query.step() ? std::optional(wallet_row(query)) : std::nullopt;
}

std::optional<WalletBrief> find_wallet_brief(Connection& db, const Tenant& tenant, WalletId id) {
  return one_brief(db, kBriefById, tenant, "id", id);
}

std::optional<AddressOwner> find_address(Connection& db, Environment environment,
                                         std::string_view public_key) {
  const auto found =
      first_of<AddressOwner, std::int64_t, WalletStatus>(db, kFindAddress, public_key, environment);
  if (found) require_intact(db, "wallets", found->wallet, {{"public_key", public_key}});
  return found;
}

std::optional<WalletBrief> find_wallet_by_public_key(Connection& db, const Tenant& tenant,
                                                     std::string_view public_key) {
  return one_brief(db, kBriefByPublicKey, tenant, "public_key", public_key);
}

WalletStatus wallet_status(Connection& db, std::int64_t wallet) {
  require_intact(db, "wallets", wallet);
  Query query(db, "SELECT status FROM wallets WHERE wallet = ?", wallet);
  COFFER_CHECK(query.step());
  return query.enumeration<WalletStatus>(0);
}

RowPage<WalletRow> list_wallets(Connection& db, const Tenant& tenant, const WalletFilter& filter,
                                const PageAt& page) {
  KeyWalk walk(db, page);
  std::optional<std::int64_t> asset;
  if (filter.asset) {
    asset = first_integer(db, "SELECT asset FROM assets WHERE code = ?", filter.asset->value());
    if (!asset) return {};
  }
  std::vector<KeySources> filters{
      {asset ? walk.along(kOfAsset, tenant.key, *asset) : walk.along(kOfTenant, tenant.key)}};
  if (filter.status && *filter.status != WalletStatus::verified) {
    filters.push_back({walk.along(kOfStatus, *filter.status)});
  }
  const auto fits = [&](std::int64_t wallet) {
    if (filters.size() > 1 && !Query(db, kIsOfTenant, wallet, tenant.key, asset).step()) {
      return false;
    }
    return !filter.status || wallet_status(db, wallet) == *filter.status;
  };
  return walk.rows(filters, fits, [&](std::int64_t key) { return *find_wallet_by_key(db, key); });
}

std::optional<Tenant> tenant_of_wallet(Connection& db, WalletId id) {
  const auto key = first_integer(db, "SELECT tenant FROM wallets WHERE id = ?", id);
  return key ? std::optional(tenant_by_key(db, *key)) : std::nullopt;
}

void insert_wallet(WriteTx& tx, const Tenant& tenant, WalletRow& row) {
  row.created_at = row.updated_at = tx.now();
  Query query(tx.db(), kInsertWallet.c_str(), tenant.key);
  bind_row(query, 2, kWalletColumns, row);
  query.run();
  row.key = tx.db().last_insert_key();
  put_metadata(tx, row);
  tx.quotas().add(tenant.key, Quota::wallets, 1);
  tx.quotas().add_bytes(tenant.key, row_bytes::kWallet);
}

void update_wallet(WriteTx& tx, const Tenant& tenant, const WalletRow& row) {
  std::optional<std::string> code, message;
  if (row.reason) {
    code = row.reason->code;
    message = row.reason->message;
  }
  tx.db().run(kUpdateWallet, row.name, row.status, code, message, tx.now(), row.id, tenant.key);
  COFFER_CHECK(tx.db().changes() == 1);
  put_metadata(tx, row);
}

}  // namespace coffer::store
