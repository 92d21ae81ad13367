#include "store/ledger/catalog.h"

namespace coffer::store {
namespace {

constexpr const char* kAllAssets =
    "SELECT asset, code, issuer, name, decimals FROM assets ORDER BY code";
constexpr const char* kAssetByCode =
    "SELECT asset, code, issuer, name, decimals FROM assets WHERE code = ?";
constexpr const char* kAssetByKey =
    "SELECT asset, code, issuer, name, decimals FROM assets WHERE asset = ?";
constexpr const char* kInsertAsset =
    "INSERT INTO assets (code, issuer, name, decimals, created_at) VALUES (?, ?, ?, ?, ?)";
constexpr const char* kRates =
    "SELECT sell, buy, numerator, denominator FROM rates WHERE environment = ? ORDER BY sell, buy";
constexpr const char* kPutRate =
    "INSERT INTO rates (environment, sell, buy, numerator, denominator, updated_at)"
    " VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (environment, sell, buy) DO UPDATE SET"
    " numerator = excluded.numerator, denominator = excluded.denominator,"
    " updated_at = excluded.updated_at";
constexpr const char* kDeleteRate =
    "DELETE FROM rates WHERE environment = ? AND sell = ? AND buy = ?";
constexpr const char* kReadMeta = "SELECT value FROM meta WHERE name = ?";
constexpr const char* kWriteMeta =
    "INSERT INTO meta (name, value) VALUES (?, ?)"
    " ON CONFLICT (name) DO UPDATE SET value = excluded.value";

Asset asset_row(const Query& query) {
  return {query.integer(0), query.asset_code(1), query.text(2), query.text(3),
          static_cast<int>(query.integer(4))};
}

template <class Key>
std::optional<Asset> one_asset(Connection& db, const char* sql, const Key& key) {
  Query query(db, sql, key);
  return query.step() ? std::optional(asset_row(query)) : std::nullopt;
}

}  // namespace

std::vector<Asset> list_assets(Connection& db) {
  std::vector<Asset> out;
  Query query(db, kAllAssets);
  while (query.step()) out.push_back(asset_row(query));
  return out;
}

std::optional<Asset> find_asset(Connection& db, const AssetCode& code) {
  return one_asset(db, kAssetByCode, code.value());
}
std::optional<Asset> find_asset(Connection& db, std::int64_t key) {
  return one_asset(db, kAssetByKey, key);
}

Asset insert_asset(WriteTx& tx, Asset asset) {
  tx.db().run(kInsertAsset, asset.code.value(), asset.issuer, asset.name, asset.decimals, tx.now());
  asset.key = tx.db().last_insert_key();
  return asset;
}

std::vector<MarketRate> list_rates(Connection& db, Environment environment) {
  std::vector<MarketRate> out;
  Query query(db, kRates, environment);
  while (query.step()) {
    out.push_back({query.integer(0), query.integer(1), {query.integer(2), query.integer(3)}});
  }
  return out;
}

void put_rate(WriteTx& tx, Environment environment, const MarketRate& rate) {
  tx.db().run(kPutRate, environment, rate.sell, rate.buy, rate.rate.numerator,
              rate.rate.denominator, tx.now());
}

bool delete_rate(WriteTx& tx, Environment environment, std::int64_t sell, std::int64_t buy) {
  tx.db().run(kDeleteRate, environment, sell, buy);
  return tx.db().changes() == 1;
}

std::optional<std::string> read_meta(Connection& db, std::string_view name) {
  Query query(db, kReadMeta, name);
  return query.step() ? std::optional(query.blob(0)) : std::nullopt;
}

void write_meta(WriteTx& tx, std::string_view name, std::string_view value) {
  tx.db().run(kWriteMeta, name, Blob{value});
}

}  // namespace coffer::store
