#include "store/ledger/catalog.h"

#include "store/rows/columns.h"
#include "store/rows/guarded_rows.h"
#include "store/rows/key_walk.h"

namespace coffer::store {
namespace {

constexpr Column<Asset> kAssetColumns[] = {
    joined<&Asset::key>("asset"),         column<&Asset::code>("code"),
    column<&Asset::issuer>("issuer"),     column<&Asset::name>("name"),
    column<&Asset::decimals>("decimals"),
};
const std::string kAssets = select(kAssetColumns) + " FROM assets";
const std::string kAllAssets = kAssets + " ORDER BY code";
const std::string kAssetByCode = kAssets + " WHERE code = ?";
const std::string kAssetByKey = kAssets + " WHERE asset = ?";
const std::string kInsertAsset = ColumnList{"created_at"}.add(kAssetColumns).insert_into("assets");
constexpr Column<MarketRate> kRateColumns[] = {
    joined<&MarketRate::sell>("sell"),
    joined<&MarketRate::buy>("buy"),
    joined<&MarketRate::rate, &Rate::numerator>("numerator"),
    joined<&MarketRate::rate, &Rate::denominator>("denominator"),
};
const std::string kRates =
    select(kRateColumns) + " FROM rates WHERE environment = ? ORDER BY sell, buy";
constexpr const char* kPutRate =
    "INSERT INTO rates (environment, sell, buy, numerator, denominator, updated_at)"
    " VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (environment, sell, buy) DO UPDATE SET"
    " numerator = excluded.numerator, denominator = excluded.denominator,"
    " updated_at = excluded.updated_at";
constexpr const char* kRateRow =
    "SELECT rowid FROM rates WHERE environment = ? AND sell = ? AND buy = ?";
constexpr const char* kWriteMeta =
    "INSERT INTO meta (name, value) VALUES (?, ?)"
    " ON CONFLICT (name) DO UPDATE SET value = excluded.value";

}  // namespace

std::vector<Asset> list_assets(Connection& db) {
  return all_rows<Asset>(Query(db, kAllAssets.c_str()), kAssetColumns);
}

std::optional<Asset> find_asset(Connection& db, const AssetCode& code) {
  auto found = first_row<Asset>(db, kAssetByCode, kAssetColumns, code.value());
  if (found) require_intact(db, "assets", found->key, {{"code", code.value()}});
  return found;
}
std::optional<Asset> find_asset(Connection& db, std::int64_t key) {
  return first_row<Asset>(db, kAssetByKey, kAssetColumns, key);
}

Asset insert_asset(WriteTx& tx, Asset asset) {
  insert_row(tx.db(), kInsertAsset, kAssetColumns, asset, tx.now());
  asset.key = tx.db().last_insert_key();
  return asset;
}

std::vector<MarketRate> list_rates(Connection& db, Environment environment) {
  return all_rows<MarketRate>(Query(db, kRates.c_str(), environment), kRateColumns);
}

void require_intact_rate(Connection& db, Environment environment, std::int64_t asset,
                         std::int64_t other) {
  for (const auto& [sell, buy] : {std::pair(asset, other), std::pair(other, asset)}) {
    require_intact(db, "rates", first_integer(db, kRateRow, environment, sell, buy),
                   {{"environment", environment}, {"sell", sell}, {"buy", buy}});
  }
}

void put_rate(WriteTx& tx, Environment environment, const MarketRate& rate) {
  tx.db().run(kPutRate, environment, rate.sell, rate.buy, rate.rate.numerator,
              rate.rate.denominator, tx.now());
}

bool delete_rate(WriteTx& tx, Environment environment, std::int64_t sell, std::int64_t buy) {
  tx.db().run("DELETE FROM rates WHERE environment = ? AND sell = ? AND buy = ?", environment, sell,
              buy);
  return tx.db().changes() == 1;
}

std::optional<std::string> read_meta(Connection& db, std::string_view name) {
  Query query(db, "SELECT value FROM meta WHERE name = ?", name);
  return query.step() ? std::optional(query.blob(0)) : std::nullopt;
}

void write_meta(WriteTx& tx, std::string_view name, std::string_view value) {
  tx.db().run(kWriteMeta, name, Blob{value});
}

}  // namespace coffer::store
