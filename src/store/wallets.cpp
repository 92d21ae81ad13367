#include "store/wallets.h"

#include <algorithm>

#include "base/check.h"
#include "store/identity/row_bytes.h"
#include "store/lists/key_walk.h"
#include "store/tenants.h"

namespace coffer::store {
namespace {

#define WALLET_COLUMNS                                                                     \
  "SELECT w.wallet, w.id, w.name, w.account_number, w.public_key, w.asset, s.code,"        \
  " w.own_account, w.status, w.status_code, w.status_message, w.created_at, w.updated_at," \
  " m.entity_type, m.first_name, m.last_name, m.date_of_birth, m.nationality, m.id_type,"  \
  " m.id_number, m.company_name, m.registration_number, m.registration_country, m.tax_id," \
  " m.address, m.email, m.phone, w.sealed_seed FROM wallets w"                             \
  " JOIN assets s ON s.asset = w.asset LEFT JOIN wallet_metadata m ON m.wallet = w.wallet"

constexpr const char* kFind = WALLET_COLUMNS " WHERE w.id = ?1 AND w.tenant = ?2";
constexpr const char* kByKey = WALLET_COLUMNS " WHERE w.wallet = ?";
constexpr const char* kBrief =
    "SELECT wallet, status, own_account FROM wallets WHERE id = ? AND tenant = ?";
#undef WALLET_COLUMNS

constexpr KeyIndex kOfTenant =
    COFFER_KEY_INDEX("wallet", "wallets INDEXED BY wallets_by_tenant", "tenant = ?3");
constexpr KeyIndex kOfAsset = COFFER_KEY_INDEX("wallet", "accounts INDEXED BY accounts_by_asset",
                                               "tenant = ?3 AND asset = ?4");
constexpr KeyIndex kOfStatus = COFFER_KEY_INDEX("wallet", "wallets INDEXED BY wallets_not_verified",
                                                "status = ?3 AND status <> 1");
static_assert(stored(WalletStatus::verified) == 1);
constexpr const char* kAsset = "SELECT asset FROM assets WHERE code = ?";

constexpr const char* kFindAddress =
    "SELECT w.wallet, w.status FROM wallets w JOIN tenants t ON t.tenant = w.tenant"
    " WHERE w.public_key = ? AND t.environment = ?";
constexpr const char* kBriefByPublicKey =
    "SELECT wallet, status, own_account FROM wallets WHERE public_key = ? AND tenant = ?";
constexpr const char* kStatus = "SELECT status FROM wallets WHERE wallet = ?";
constexpr const char* kTenantOfWallet = "SELECT tenant FROM wallets WHERE id = ?";
constexpr const char* kInsert =
    "INSERT INTO wallets (tenant, id, name, account_number, public_key, sealed_seed, asset,"
    " own_account, status, created_at, updated_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";
constexpr const char* kUpdate =
    "UPDATE wallets SET name = ?, status = ?, status_code = ?, status_message = ?, updated_at = ?"
    " WHERE id = ? AND tenant = ?";
constexpr const char* kDeleteMetadata = "DELETE FROM wallet_metadata WHERE wallet = ?";
constexpr const char* kInsertPerson =
    "INSERT INTO wallet_metadata (wallet, entity_type, first_name, last_name, date_of_birth,"
    " nationality, id_type, id_number, address, email, phone)"
    " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";
constexpr const char* kInsertBusiness =
    "INSERT INTO wallet_metadata (wallet, entity_type, company_name, registration_number,"
    " registration_country, tax_id, address, email) VALUES (?, ?, ?, ?, ?, ?, ?, ?)";

std::optional<Metadata> metadata_row(const Query& q) {
  if (q.is_null(13)) return std::nullopt;
  if (q.enumeration<EntityType>(13) == EntityType::person) {
    return PersonMetadata{q.text(14),          q.text(15),          q.text(16),
                          q.text(17),          q.optional_text(18), q.optional_text(19),
                          q.optional_text(24), q.optional_text(25), q.optional_text(26)};
  }
  return BusinessMetadata{q.text(20),          q.text(21),          q.text(22),
                          q.optional_text(23), q.optional_text(24), q.optional_text(25)};
}

WalletRow wallet_row(const Query& q) {
  WalletRow row;
  row.key = q.integer(0);
  row.id = q.id<WalletId>(1);
  row.name = q.text(2);
  row.account_number = q.text(3);
  row.public_key = q.text(4);
  row.asset = q.integer(5);
  row.asset_code = *AssetCode::parse(q.text(6));
  row.own_account = q.boolean(7);
  row.status = q.enumeration<WalletStatus>(8);
  if (!q.is_null(9)) row.reason = WalletStatusReason{q.text(9), q.text(10)};
  row.created_at = q.time(11);
  row.updated_at = q.time(12);
  row.metadata = metadata_row(q);
  row.sealed_seed = q.blob(27);
  return row;
}

void put_metadata(WriteTx& tx, const WalletRow& row) {
  Query(tx.db(), kDeleteMetadata, row.key).run();
  if (!row.metadata) return;
  if (const auto* person = std::get_if<PersonMetadata>(&*row.metadata)) {
    Query(tx.db(), kInsertPerson, row.key, EntityType::person, person->first_name,
          person->last_name, person->date_of_birth, person->nationality, person->id_type,
          person->id_number, person->address, person->email, person->phone)
        .run();
    return;
  }
  const auto& business = std::get<BusinessMetadata>(*row.metadata);
  Query(tx.db(), kInsertBusiness, row.key, EntityType::business, business.company_name,
        business.registration_number, business.registration_country, business.tax_id,
        business.address, business.contact_email)
      .run();
}

}  // namespace

std::optional<WalletRow> find_wallet(Connection& db, const Tenant& tenant, WalletId id) {
  Query query(db, kFind, id, tenant.key);
  return query.step() ? std::optional(wallet_row(query)) : std::nullopt;
}

std::optional<WalletRow> find_wallet_by_key(Connection& db, std::int64_t wallet) {
  Query query(db, kByKey, wallet);
  return query.step() ? std::optional(wallet_row(query)) : std::nullopt;
}

std::optional<WalletBrief> find_wallet_brief(Connection& db, const Tenant& tenant, WalletId id) {
  Query query(db, kBrief, id, tenant.key);
  if (!query.step()) return std::nullopt;
  return WalletBrief{query.integer(0), query.enumeration<WalletStatus>(1), query.boolean(2)};
}

std::optional<AddressOwner> find_address(Connection& db, Environment environment,
                                         std::string_view public_key) {
  Query query(db, kFindAddress, public_key, environment);
  if (!query.step()) return std::nullopt;
  return AddressOwner{query.integer(0), query.enumeration<WalletStatus>(1)};
}

std::optional<WalletBrief> find_wallet_by_public_key(Connection& db, const Tenant& tenant,
                                                     std::string_view public_key) {
  Query query(db, kBriefByPublicKey, public_key, tenant.key);
  if (!query.step()) return std::nullopt;
  return WalletBrief{query.integer(0), query.enumeration<WalletStatus>(1), query.boolean(2)};
}

WalletStatus wallet_status(Connection& db, std::int64_t wallet) {
  Query query(db, kStatus, wallet);
  COFFER_CHECK(query.step());
  return query.enumeration<WalletStatus>(0);
}

RowPage<WalletRow> list_wallets(Connection& db, const Tenant& tenant, const WalletFilter& filter,
                                const PageAt& page) {
  RowBudget budget;
  const KeyWalk walk(db, page.backward ? Order::rising : Order::falling, budget);
  KeySets sets;
  if (filter.asset) {
    const auto asset = first_integer(db, kAsset, filter.asset->value());
    if (!asset) return {};
    sets.push_back(walk.of(kOfAsset, tenant.key, *asset));
  } else {
    sets.push_back(walk.of(kOfTenant, tenant.key));
  }
  const bool rare = filter.status && *filter.status != WalletStatus::verified;
  if (rare) sets.push_back(walk.of(kOfStatus, *filter.status));
  const auto fits = [&](std::int64_t wallet) {
    budget.spend(1);
    return !filter.status || wallet_status(db, wallet) == *filter.status;
  };
  const auto found = walk.read(sets, {.beyond = page.key, .limit = page.limit}, fits);
  return load_page<WalletRow>(page, found,
                              [&](std::int64_t key) { return *find_wallet_by_key(db, key); });
}

std::optional<Tenant> tenant_of_wallet(Connection& db, WalletId id) {
  Query query(db, kTenantOfWallet, id);
  return query.step() ? std::optional(tenant_by_key(db, query.integer(0))) : std::nullopt;
}

void insert_wallet(WriteTx& tx, const Tenant& tenant, WalletRow& row) {
  Query(tx.db(), kInsert, tenant.key, row.id, row.name, row.account_number, row.public_key,
        Blob{row.sealed_seed}, row.asset, row.own_account, row.status, tx.now(), tx.now())
      .run();
  row.key = tx.db().last_insert_key();
  row.created_at = row.updated_at = tx.now();
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
  Query(tx.db(), kUpdate, row.name, row.status, code, message, tx.now(), row.id, tenant.key).run();
  COFFER_CHECK(tx.db().changes() == 1);
  put_metadata(tx, row);
}

}  // namespace coffer::store
