// coffer asset and coffer rate: assets, the market's liquidity and its rates.
#pragma once

#include "cli/command.h"
#include "domain/ledger/money.h"

namespace coffer::cli {

/// The asset code in an argument; `malformed-request` if it is not valid.
Result<AssetCode> asset_argument(const Arguments& arguments, const std::string& name);
/// The registered asset with this code; `not-found`.
Result<Asset> registered_asset(Session& session, const AssetCode& code);
Result<Rate> rate_argument(const Arguments& arguments, const std::string& name);
/// The amount in a text with this number of decimal places. In errors, `label` is the name of the
/// argument, and `limit` follows `too many decimal places`.
Result<Amount> parse_amount_of(const std::string& label, const std::string& text, int decimals,
                               const std::string& limit);
/// The amount in an argument, with the decimals of the asset; `not-found` if the asset is not
/// registered.
Result<Amount> amount_argument(Session& session, const Arguments& arguments,
                               const std::string& name, const AssetCode& asset);
/// The same amount, for the limits of four_eyes; nullopt if the asset or the amount is not valid.
std::optional<MovedAmount> moved_amount(const Arguments& arguments, const std::string& asset,
                                        const std::string& amount);

}  // namespace coffer::cli
