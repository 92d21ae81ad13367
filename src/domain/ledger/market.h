// The embedded market: strict-send conversion along the best path of the operator's exchange rates.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "domain/ledger/money.h"

namespace coffer {

/// One unit of `sell` is converted to `rate` units of `buy`. Assets are given by row key.
struct MarketRate {
  std::int64_t sell = 0;
  std::int64_t buy = 0;
  Rate rate;
};

struct MarketPath {
  std::vector<std::int64_t> assets;  // from the sold to the bought asset, inclusive
  Amount receiving;                  // after rounding down at each hop, in the operator's favour
};

constexpr int kHopsMax = 5;

/// The path of at most kHopsMax hops that yields the most for exactly `sending`; among equal paths,
/// the shortest. Optimal unless the operator's rates contain a cycle that yields a gain. A path
/// contains each asset at most once. Each hop rounds down to the decimals of the bought asset.
/// nullopt if there is no path or every path yields nothing.
std::optional<MarketPath> best_path(std::span<const MarketRate> rates,
                                    std::span<const Asset> assets, std::int64_t sell,
                                    std::int64_t buy, Amount sending);

}  // namespace coffer
