// POST /v1/payments/swap/own: strict send at the operator's rates, best path, rounding
// down.
#include <catch2/catch.hpp>

#include "flows/ledger/market_changes.h"
#include "support/scenario.h"
#include "support/test_app.h"

using namespace coffer;
using namespace coffer::test;

namespace swap_test {
namespace {

const std::string kSwap = "/v1/payments/swap/own";

/// Two wallets that hold every asset; `from` has 1000 of each.
struct World {
  TestApp app;
  std::string from = app.wallet("USDC", "1000");
  std::string to = app.wallet("USDC");

  World() {
    for (const char* asset : {"EURC", "KES", "JPY"}) {
      app.me().trustline(from, asset);
      app.me().trustline(to, asset);
      app.me().fund(from, asset, "1000");
    }
    for (const char* asset : {"USDC", "EURC", "KES", "JPY"}) app.liquidity(asset, "1000000");
  }
  /// The settled record.
  Json swap(const std::string& amount, const char* sell, const char* buy) {
    const std::string id = app.me().pay(kSwap, swap_body(from, to, amount, sell, buy));
    app.settle();
    return app.me().record(id);
  }
};

}  // namespace

TEST_CASE("a swap sells exactly the amount and yields the rate") {
  World world;
  world.app.rate("USDC", "EURC", "0.9215");
  const std::string id =
      world.app.me().pay(kSwap, swap_body(world.from, world.to, "100", "USDC", "EURC"));
  CHECK(world.app.me().funds(world.from, "USDC") == "1000.00/900.00/100.00");
  const Json before = world.app.me().record(id);
  CHECK(before.at("type") == "swap_own");
  CHECK(before.at("receivingAssetCode") == "EURC");
  CHECK_FALSE(before.contains("receivingAmount"));
  world.app.settle();
  const Json record = world.app.me().record(id);
  CHECK(record.at("status") == "succeeded");
  CHECK(record.at("sendingAmount") == "100.00");
  CHECK(record.at("receivingAmount") == "92.15");
  CHECK(record.at("path") == "USDC EURC");
  CHECK(world.app.me().funds(world.from, "USDC") == "900.00/900.00/0.00");
  CHECK(world.app.me().balance(world.to, "EURC") == "92.15");
}

TEST_CASE("a swap within one wallet exchanges its assets") {
  World world;
  world.app.rate("USDC", "EURC", "2");
  const Json body = swap_body(world.from, world.from, "10", "USDC", "EURC");
  world.app.me().pay(kSwap, body);
  world.app.settle();
  CHECK(world.app.me().balance(world.from, "USDC") == "990.00");
  CHECK(world.app.me().balance(world.from, "EURC") == "1020.00");
}

TEST_CASE("rounding is down to the bought asset's decimals, in the operator's favour") {
  World world;
  world.app.rate("USDC", "KES", "129.999");
  world.app.rate("USDC", "JPY", "155.9");
  world.app.rate("EURC", "USDC", "0.3333333");
  struct Row {
    const char* amount;
    const char* sell;
    const char* buy;
    const char* receiving;
  };
  const Row rows[] = {
      {"1", "USDC", "KES", "129.99"},
      {"0.0001", "USDC", "KES", "0.01"},
      {"1", "USDC", "JPY", "155"},
      {"0.0128287", "USDC", "JPY", "1"},
      {"0.0000003", "EURC", "USDC", nullptr},
      {"0.0000004", "EURC", "USDC", "0.0000001"},
      {"1", "EURC", "USDC", "0.3333333"},
      {"3", "EURC", "USDC", "0.9999999"},
      {"0.0000001", "USDC", "KES", nullptr},
  };
  for (const Row& row : rows) {
    INFO(row.amount << " " << row.sell << " to " << row.buy);
    if (row.receiving == nullptr) {
      // The result would be zero, so the path does not exist.
      const Reply reply = world.app.me().post(
          kSwap, swap_body(world.from, world.to, row.amount, row.sell, row.buy));
      CHECK(reply.status == 422);
      CHECK(reply.fields() == std::vector<std::string>{"receivingAssetCode"});
    } else {
      CHECK(world.swap(row.amount, row.sell, row.buy).at("receivingAmount") == row.receiving);
    }
  }
}

TEST_CASE("a swap uses the best path, and the direct one among equals") {
  World world;
  world.app.rate("USDC", "JPY", "100");
  world.app.rate("USDC", "EURC", "0.9");
  world.app.rate("EURC", "JPY", "160");
  CHECK(world.swap("10", "USDC", "JPY").at("path") == "USDC EURC JPY");
  CHECK(world.swap("10", "USDC", "JPY").at("receivingAmount") == "1440");
  world.app.rate("USDC", "JPY", "144");
  CHECK(world.swap("10", "USDC", "JPY").at("path") == "USDC JPY");
  // Only the first and the last asset move; the others only determine the price.
  CHECK(world.app.me().balance(world.to, "EURC") == "0.00");
}

TEST_CASE("a path has at most five rates and no cycle") {
  World world;
  const char* chain[] = {"USDC", "AAA", "BBB", "CCC", "DDD", "EURC", "KES"};
  for (const char* code : {"AAA", "BBB", "CCC", "DDD"}) {
    flows::register_asset(world.app.flows(), {code, code, 7, ""}).value();
  }
  for (std::size_t i = 0; i + 1 < std::size(chain); ++i) {
    world.app.rate(chain[i], chain[i + 1], "1");
    world.app.rate(chain[i + 1], chain[i], "2");
  }
  CHECK(world.swap("10", "USDC", "EURC").at("path") == "USDC AAA BBB CCC DDD EURC");
  const Reply reply =
      world.app.me().post(kSwap, swap_body(world.from, world.to, "10", "USDC", "KES"));
  CHECK(reply.status == 422);
  CHECK(reply.slug() == "validation-failed");
  CHECK(reply.fields() == std::vector<std::string>{"receivingAssetCode"});
}

TEST_CASE("below minReceivingAmount, the swap fails and releases the funds") {
  World world;
  world.app.rate("USDC", "EURC", "0.9");
  Json body = swap_body(world.from, world.to, "100", "USDC", "EURC");
  body["minReceivingAmount"] = "90";
  const std::string good = world.app.me().pay(kSwap, body);
  body["transactionId"] = fresh_transaction_id();
  const std::string bad = world.app.me().pay(kSwap, body);
  // The first settles at the rate of its acceptance; then the market changes.
  CHECK(world.app.core().background().settle_once() == 2);
  CHECK(world.app.me().status(good) == "succeeded");
  CHECK(world.app.me().status(bad) == "succeeded");
  body["transactionId"] = fresh_transaction_id();
  const std::string late = world.app.me().pay(kSwap, body);
  world.app.rate("USDC", "EURC", "0.8999999");
  CHECK(world.app.me().funds(world.from, "USDC") == "800.00/700.00/100.00");
  world.app.clock.advance_ms(1'000);
  world.app.settle();
  const Json record = world.app.me().record(late);
  CHECK(record.at("status") == "failed");
  CHECK(record.at("statusReason").at("code") == "slippage_exceeded");
  CHECK(record.at("statusReason").at("retryable") == true);
  CHECK(record.at("minReceivingAmount") == "90.00");
  CHECK_FALSE(record.contains("receivingAmount"));
  CHECK_FALSE(record.contains("ledgerTransactionHash"));
  CHECK(record.at("statusHistory").back().at("code") == "slippage_exceeded");
  CHECK(world.app.me().funds(world.from, "USDC") == "800.00/800.00/0.00");
  CHECK(world.app.me().balance(world.to, "EURC") == "180.00");
}

TEST_CASE("a market that cannot deliver fails the swap and releases the hold") {
  World world;
  world.app.rate("USDC", "EURC", "100000");
  const Json poor = world.swap("11", "USDC", "EURC");
  CHECK(poor.at("status") == "failed");
  CHECK(poor.at("statusReason").at("code") == "insufficient_liquidity");
  CHECK(world.app.me().funds(world.from, "USDC") == "1000.00/1000.00/0.00");
  // Exactly the available liquidity can be bought.
  CHECK(world.swap("10", "USDC", "EURC").at("status") == "succeeded");
  CHECK(world.swap("0.0000001", "USDC", "EURC").at("statusReason").at("code") ==
        "insufficient_liquidity");
}

TEST_CASE("a rate that is removed before the settlement fails the swap") {
  World world;
  world.app.rate("USDC", "EURC", "1");
  const std::string id =
      world.app.me().pay(kSwap, swap_body(world.from, world.to, "1", "USDC", "EURC"));
  flows::remove_rate(world.app.flows(), Environment::sandbox, *AssetCode::parse("USDC"),
                     *AssetCode::parse("EURC"))
      .value();
  world.app.settle();
  CHECK(world.app.me().record(id).at("statusReason").at("code") == "no_market_path");
  CHECK(world.app.me().funds(world.from, "USDC") == "1000.00/1000.00/0.00");
}

TEST_CASE("rates of one environment have no effect in the other") {
  World world;
  world.app.rate("USDC", "EURC", "1");
  const Client production = world.app.production();
  const std::string wallet = production.wallet("USDC");
  production.trustline(wallet, "EURC");
  world.app.issue(wallet, "USDC", "5");
  const Reply reply = production.post(kSwap, swap_body(wallet, wallet, "1", "USDC", "EURC"));
  CHECK(reply.status == 422);
  CHECK(reply.fields() == std::vector<std::string>{"receivingAssetCode"});
}

TEST_CASE("rejected swaps") {
  World world;
  world.app.rate("USDC", "EURC", "0.9");
  world.app.rate("USDC", "KES", "130");
  Names names{{"from", world.from}, {"to", world.to}, {"bare", world.app.wallet("USDC", "5")}};
  const auto body = [](const char* more) {
    Json json = Json::parse(R"({"transactionId":"$new","sourceWalletId":"$from",
      "destinationWalletId":"$to","sendingAssetCode":"USDC","receivingAssetCode":"EURC",
      "amount":"1"})");
    json.merge_patch(Json::parse(more));
    return json.dump();
  };
  // A row in two lines is easier to read than in seven.
  // clang-format off
  run_scenarios(
      world.app.me(),
      {
          {"no receiving asset", kSwap, body(R"({"receivingAssetCode":null})"), 400,
           "malformed-request", {"receivingAssetCode"}},
          {"same asset", kSwap, body(R"({"receivingAssetCode":"USDC"})"), 422, "validation-failed",
           {"receivingAssetCode"}},
          {"unknown asset", kSwap, body(R"({"receivingAssetCode":"NOPE"})"), 422,
           "validation-failed", {"receivingAssetCode"}},
          {"no path", kSwap, body(R"({"receivingAssetCode":"JPY"})"), 422, "validation-failed",
           {"receivingAssetCode"}},
          {"no trustline for what comes", kSwap, body(R"({"destinationWalletId":"$bare"})"), 422,
           "trustline-missing", {"destinationWalletId"}},
          {"no funds", kSwap, body(R"({"amount":"1000.01"})"), 422, "insufficient-funds",
           {"amount"}},
          {"minimum of nothing", kSwap, body(R"({"minReceivingAmount":0})"), 422,
           "amount-out-of-range", {"minReceivingAmount"}},
          {"minimum too precise", kSwap,
           body(R"({"receivingAssetCode":"KES","minReceivingAmount":"1.005"})"), 422,
           "amount-precision", {"minReceivingAmount"}},
          {"minimum of a wrong type", kSwap, body(R"({"minReceivingAmount":true})"), 400,
           "malformed-request", {"minReceivingAmount"}},
          {"retired field", kSwap, body(R"({"externalReference":"x"})"), 400, "malformed-request",
           {"externalReference"}, {"send transactionId"}},
          {"only checked", kSwap + "/validate", body("{}"), 200, "", {}, {"true"}},
      },
      names);
  // clang-format on
  CHECK(world.app.me().all("/v1/transactions").empty());
  CHECK(world.app.me().funds(world.from, "USDC") == "1000.00/1000.00/0.00");
}

}  // namespace swap_test
