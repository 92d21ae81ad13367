// The embedded market: strict send along the best path of the operator's rates.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "domain/ledger/money.h"

namespace coffer {

/// One unit of `sell` gives `rate` units of `buy`. Assets by their keys.
struct MarketRate {
  std::int64_t sell = 0;
  std::int64_t buy = 0;
  Rate rate;
};

struct MarketPath {
  std::vector<std::int64_t> assets;  // from the sold to the bought one, both included
  Amount receiving;                  // after rounding down at each hop, in the operator's favour
};

constexpr int kHopsMax = 5;

/// The path of at most kHopsMax hops that gives most for exactly `sending`; the shortest among
/// equals. Exact wherever going round in a circle of rates never gains; where the operator left
/// such free money in the market, the path found is good but need not be the best. Never passes an
/// asset twice. Each hop rounds down to the bought asset's decimals. nullopt when no path leads
/// there or every one gives nothing.
std::optional<MarketPath> best_path(std::span<const MarketRate> rates,
                                    std::span<const Asset> assets, std::int64_t sell,
                                    std::int64_t buy, Amount sending);

}  // namespace coffer
