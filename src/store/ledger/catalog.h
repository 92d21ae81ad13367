// What the operator offers: registered assets and market rates.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "domain/identity/tenant.h"
#include "domain/ledger/market.h"
#include "domain/ledger/money.h"
#include "store/commits/write_tx.h"

namespace coffer::store {

std::vector<Asset> list_assets(Connection& db);
std::optional<Asset> find_asset(Connection& db, const AssetCode& code);
std::optional<Asset> find_asset(Connection& db, std::int64_t key);
/// Registers a new asset and returns it with its key. The caller has checked that the code is
/// unused.
Asset insert_asset(WriteTx& tx, Asset asset);

/// All rates of an environment; keys are asset keys.
std::vector<MarketRate> list_rates(Connection& db, Environment environment);
void put_rate(WriteTx& tx, Environment environment, const MarketRate& rate);
/// Returns false if the rate does not exist.
bool delete_rate(WriteTx& tx, Environment environment, std::int64_t sell, std::int64_t buy);

/// Small named values of the file (key check value, demo marker).
/// Throws ForeignChange (store/rows/guarded_rows.h) if another program changed one of the rates
/// between the two assets.
void require_intact_rate(Connection& db, Environment environment, std::int64_t asset,
                         std::int64_t other);
std::optional<std::string> read_meta(Connection& db, std::string_view name);
void write_meta(WriteTx& tx, std::string_view name, std::string_view value);

}  // namespace coffer::store
