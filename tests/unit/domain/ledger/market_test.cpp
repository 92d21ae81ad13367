#include "domain/ledger/market.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <functional>
#include <limits>
#include <string>
#include <vector>

using namespace coffer;

namespace market_test {
namespace {

constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
using Keys = std::vector<std::int64_t>;

Rate rate(const std::string& text) { return Rate::parse(text).value(); }
Amount units(std::int64_t value) { return Amount::from_units(value); }

std::vector<Asset> assets_with(int decimals, std::int64_t count) {
  std::vector<Asset> out;
  for (std::int64_t key = 1; key <= count; ++key) {
    out.push_back({key, *AssetCode::parse("A" + std::to_string(key)), "", "", decimals});
  }
  return out;
}

std::optional<MarketPath> path(const std::vector<MarketRate>& rates, std::int64_t buy,
                               std::int64_t sending,
                               const std::vector<Asset>& assets = assets_with(7, 9)) {
  return best_path(rates, assets, 1, buy, units(sending));
}

/// Exhaustive search over all simple paths of at most kHopsMax hops.
Amount best_by_trying(const std::vector<MarketRate>& rates, const std::vector<Asset>& assets,
                      std::int64_t sell, std::int64_t buy, Amount sending) {
  Amount best;
  Keys walked{sell};
  const std::function<void(Amount)> walk = [&](Amount amount) {
    if (walked.back() == buy) best = std::max(best, amount);
    if (walked.size() > kHopsMax) return;
    for (const MarketRate& step : rates) {
      const bool seen = std::find(walked.begin(), walked.end(), step.buy) != walked.end();
      if (step.sell != walked.back() || seen) continue;
      const auto bought = multiply(amount, step.rate, Rounding::down);
      if (!bought) continue;
      const Amount kept =
          truncate_to(*bought, assets[static_cast<std::size_t>(step.buy) - 1].decimals);
      if (!kept.is_positive()) continue;
      walked.push_back(step.buy);
      walk(kept);
      walked.pop_back();
    }
  };
  walk(sending);
  return best;
}

/// Small deterministic numbers for the search below.
struct Dice {
  std::uint64_t state;
  std::int64_t roll(std::int64_t sides) {
    state = state * 6'364'136'223'846'793'005ULL + 1'442'695'040'888'963'407ULL;
    return static_cast<std::int64_t>(state >> 33) % sides;
  }
};

}  // namespace

TEST_CASE("market: a direct rate") {
  const auto found = path({{1, 2, rate("0.5")}}, 2, 10'000'000);
  REQUIRE(found);
  CHECK(found->assets == Keys{1, 2});
  CHECK(found->receiving == units(5'000'000));
}

TEST_CASE("market: without a rate, against a rate, and without liquidity there is no path") {
  CHECK_FALSE(path({}, 2, 10'000'000));
  CHECK_FALSE(path({{2, 1, rate("2")}}, 2, 10'000'000));
  CHECK_FALSE(path({{1, 2, rate("0.000000001")}}, 2, 1));
  CHECK_FALSE(path({{1, 3, rate("1")}}, 2, 10'000'000));
}

TEST_CASE("market: the path with the highest result wins, at any length") {
  const std::vector<MarketRate> rates{{1, 2, rate("0.90")},
                                      {1, 3, rate("1")},
                                      {3, 2, rate("0.95")},
                                      {1, 4, rate("2")},
                                      {4, 2, rate("0.4")}};
  const auto found = path(rates, 2, 10'000'000);
  REQUIRE(found);
  CHECK(found->assets == Keys{1, 3, 2});
  CHECK(found->receiving == units(9'500'000));
}

TEST_CASE("market: among equals the shortest wins") {
  const std::vector<MarketRate> rates{{1, 3, rate("1")}, {3, 2, rate("0.9")}, {1, 2, rate("0.9")}};
  CHECK(path(rates, 2, 10'000'000)->assets == Keys{1, 2});
}

TEST_CASE("market: among equal paths of the same length, the first listed always wins") {
  const std::vector<MarketRate> rates{
      {1, 4, rate("1")}, {4, 2, rate("0.9")}, {1, 3, rate("1")}, {3, 2, rate("0.9")}};
  for (int i = 0; i < 3; ++i) CHECK(path(rates, 2, 10'000'000)->assets == Keys{1, 4, 2});
}

TEST_CASE("market: five hops are found, six are not") {
  std::vector<MarketRate> chain;
  for (std::int64_t key = 1; key <= 5; ++key) chain.push_back({key, key + 1, rate("1")});
  const auto found = path(chain, 6, 10'000'000);
  REQUIRE(found);
  CHECK(found->assets == Keys{1, 2, 3, 4, 5, 6});
  chain.push_back({6, 7, rate("1")});
  CHECK_FALSE(path(chain, 7, 10'000'000));
}

TEST_CASE("market: every hop rounds down to the decimals of the bought asset") {
  auto assets = assets_with(7, 3);
  assets[1].decimals = 2;
  assets[2].decimals = 0;
  // 1.2345678 -> 1.23 (two places) -> 2.46 -> 2 (none)
  const auto found = path({{1, 2, rate("1")}, {2, 3, rate("2")}}, 3, 12'345'678, assets);
  REQUIRE(found);
  CHECK(found->receiving == units(20'000'000));
  // A detour that loses a decimal is not used.
  assets[2].decimals = 7;
  const auto direct = path({{1, 2, rate("1")}, {2, 3, rate("1")}, {1, 3, rate("0.9999999")}}, 3,
                           10'099'999, assets);
  REQUIRE(direct);
  CHECK(direct->assets == Keys{1, 3});
}

TEST_CASE("market: the best path can differ between a small and a large amount") {
  auto assets = assets_with(7, 3);
  assets[2].decimals = 2;
  const std::vector<MarketRate> rates{{1, 2, rate("0.9")}, {1, 3, rate("1")}, {3, 2, rate("0.95")}};
  CHECK(path(rates, 2, 10'000'000, assets)->assets == Keys{1, 3, 2});
  // 0.0199999 of asset 1 is 0.01 of asset 3, which gives 0.0095; directly 0.0179999.
  CHECK(path(rates, 2, 199'999, assets)->assets == Keys{1, 2});
}

TEST_CASE("market: a profitable cycle is never used") {
  // 1 -> 3 -> 1 doubles the amount, but a path cannot visit an asset twice.
  const std::vector<MarketRate> rates{
      {1, 3, rate("2")}, {3, 1, rate("1")}, {1, 2, rate("1")}, {3, 2, rate("0.4")}};
  const auto found = path(rates, 2, 10'000'000);
  REQUIRE(found);
  CHECK(found->assets == Keys{1, 2});
  CHECK(found->receiving == units(10'000'000));
}

TEST_CASE("market: a rate with a result beyond the largest amount is skipped") {
  const std::vector<MarketRate> rates{
      {1, 2, rate("1000000")}, {1, 3, rate("1")}, {3, 2, rate("0.5")}};
  const auto found = path(rates, 2, kMax - 7);
  REQUIRE(found);
  CHECK(found->assets == Keys{1, 3, 2});
  CHECK(found->receiving == units((kMax - 7) / 2));
}

TEST_CASE("market: agrees with an exhaustive search if prices allow no arbitrage") {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    INFO("seed " << seed);
    Dice dice{seed};
    const std::int64_t count = 3 + dice.roll(5);
    auto assets = assets_with(7, count);
    std::vector<std::int64_t> price;
    for (Asset& asset : assets) {
      asset.decimals = static_cast<int>(dice.roll(3)) * 2 + 3;
      price.push_back(1 + dice.roll(1'000));
    }
    std::vector<MarketRate> rates;
    for (std::int64_t sell = 1; sell <= count; ++sell) {
      for (std::int64_t buy = 1; buy <= count; ++buy) {
        if (sell == buy || dice.roll(3) == 0) continue;
        // The price ratio minus a spread of up to 5 %, so that every cycle loses.
        const auto at = [&](std::int64_t key) { return price[static_cast<std::size_t>(key) - 1]; };
        rates.push_back({sell, buy, {at(sell) * (950 + dice.roll(50)), at(buy) * 1'000}});
      }
    }
    const Amount sending = units(1 + dice.roll(1'000'000'000));
    const Amount tried = best_by_trying(rates, assets, 1, 2, sending);
    const auto found = best_path(rates, assets, 1, 2, sending);
    CHECK((found ? found->receiving : Amount()) == tried);
  }
}

}  // namespace market_test
