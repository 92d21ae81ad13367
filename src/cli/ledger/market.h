// coffer asset and coffer rate: the registry, the market's liquidity and its rates.
#pragma once

#include "cli/command.h"
#include "domain/ledger/money.h"

namespace coffer::cli {

/// The asset code an argument names; `malformed-request` when it cannot be one.
Result<AssetCode> asset_argument(const Arguments& arguments, const std::string& name);
/// The amount an argument states, with the places the asset has; `not-found` for an asset that is
/// not registered.
Result<Amount> amount_argument(Session& session, const Arguments& arguments,
                               const std::string& name, const AssetCode& asset);

}  // namespace coffer::cli
