#include "domain/ledger/market.h"

#include <map>

namespace coffer {
namespace {

/// The best known amount of an asset after a number of hops.
struct Best {
  Amount amount;
  std::vector<std::int64_t> path;
};

int decimals_of(std::span<const Asset> assets, std::int64_t key) {
  for (const Asset& asset : assets) {
    if (asset.key == key) return asset.decimals;
  }
  return Amount::kScale;
}

bool visits(const std::vector<std::int64_t>& path, std::int64_t asset) {
  for (const std::int64_t step : path) {
    if (step == asset) return true;
  }
  return false;
}

}  // namespace

std::optional<MarketPath> best_path(std::span<const MarketRate> rates,
                                    std::span<const Asset> assets, std::int64_t sell,
                                    std::int64_t buy, Amount sending) {
  // Bellman-Ford over hop counts: `layer` contains the best amount of each asset after exactly n
  // hops. A larger amount never buys less, so the best amount per asset and hop count suffices.
  std::map<std::int64_t, Best> layer{{sell, {sending, {sell}}}};
  std::optional<MarketPath> best;
  for (int hop = 0; hop < kHopsMax; ++hop) {
    std::map<std::int64_t, Best> next;
    for (const MarketRate& rate : rates) {
      const auto from = layer.find(rate.sell);
      if (from == layer.end() || visits(from->second.path, rate.buy)) continue;
      const auto bought = multiply(from->second.amount, rate.rate, Rounding::down);
      if (!bought) continue;  // exceeds the largest amount
      const Amount amount = truncate_to(*bought, decimals_of(assets, rate.buy));
      Best& candidate = next[rate.buy];
      if (amount.is_positive() && amount > candidate.amount) {
        candidate.amount = amount;
        candidate.path = from->second.path;
        candidate.path.push_back(rate.buy);
      }
    }
    std::erase_if(next, [](const auto& item) { return item.second.path.empty(); });
    if (const auto found = next.find(buy);
        found != next.end() && (!best || found->second.amount > best->receiving)) {
      best = MarketPath{found->second.path, found->second.amount};
    }
    layer = std::move(next);
  }
  return best;
}

}  // namespace coffer
