// GET /v1/transactions/{id}: the record as the source of truth.
#include <catch2/catch.hpp>

#include "support/test_app.h"

using namespace coffer;
using namespace coffer::test;

namespace {

/// `status@seconds` of each step since the start of the test's clock.
std::vector<std::string> steps(const Json& record) {
  std::vector<std::string> out;
  for (const Json& step : record.at("statusHistory")) {
    const std::string at = step.at("at");
    out.push_back(step.at("status").get<std::string>() + "@" + at.substr(17, 2));
  }
  return out;
}

}  // namespace

TEST_CASE("the record of a transfer, from acceptance to the final status") {
  TestApp app;
  const std::string from = app.wallet("USDC", "10"), to = app.wallet("USDC");
  Json body = transfer_body(from, to, "2.5");
  body["fromRef"] = "INV-1";
  body["toRef"] = "RCPT-1";
  body["description"] = "Rent";
  body["memo"] = "m";
  app.clock.advance_ms(1'000);
  const std::string id = app.me().pay("/v1/payments/p2p/own", body);
  const Json accepted = app.me().record(id);
  CHECK(accepted ==
        Json{{"id", id},
             {"transactionRecordId", id},
             {"transactionId", body.at("transactionId")},
             {"type", "p2p_own"},
             {"status", "initiated"},
             {"statusHistory", {{{"status", "initiated"}, {"at", "2026-01-01T00:00:01.000Z"}}}},
             {"environment", "sandbox"},
             {"sendingAssetCode", "USDC"},
             {"sendingAmount", "2.50"},
             {"total", "2.50"},
             {"sourceWalletId", from},
             {"destinationWalletId", to},
             {"fromRef", "INV-1"},
             {"toRef", "RCPT-1"},
             {"description", "Rent"},
             {"memo", "m"},
             {"version", 1},
             {"createdAt", "2026-01-01T00:00:01.000Z"},
             {"updatedAt", "2026-01-01T00:00:01.000Z"}});
  app.clock.advance_ms(1'500);
  app.settle();
  const Json settled = app.me().record(id);
  CHECK(settled.at("status") == "succeeded");
  CHECK(steps(settled) ==
        std::vector<std::string>{"initiated@01", "processing@02", "succeeded@02"});
  CHECK(settled.at("version") == 3);
  CHECK(settled.at("createdAt") == "2026-01-01T00:00:01.000Z");
  CHECK(settled.at("updatedAt") == "2026-01-01T00:00:02.500Z");
  CHECK(settled.at("completedAt") == "2026-01-01T00:00:02.500Z");
  CHECK(settled.at("ledgerTransactionHash").get<std::string>().size() == 64);
}

TEST_CASE("the record of a failed payment has the reason once at each place") {
  TestApp app;
  const std::string from = app.wallet("USDC", "10");
  app.me().trustline(from, "EURC");
  app.rate("USDC", "EURC", "1");
  const std::string id =
      app.me().pay("/v1/payments/swap/own", swap_body(from, from, "1", "USDC", "EURC"));
  app.settle();
  const Json record = app.me().record(id);
  CHECK(record.at("status") == "failed");
  CHECK(record.at("version") == 3);
  const Json& reason = record.at("statusReason");
  CHECK(reason.at("code") == "insufficient_liquidity");
  CHECK_FALSE(reason.at("message").get<std::string>().empty());
  CHECK(reason.at("retryable").is_boolean());
  CHECK(steps(record) == std::vector<std::string>{"initiated@00", "processing@00", "failed@00"});
  CHECK(record.at("statusHistory")[2].at("code") == "insufficient_liquidity");
  CHECK(record.at("statusHistory")[2].at("message") == reason.at("message"));
  CHECK(record.contains("completedAt"));
  CHECK_FALSE(record.contains("ledgerTransactionHash"));
}

TEST_CASE("a record is found only by its own ID") {
  TestApp app;
  const std::string from = app.wallet("USDC", "10"), to = app.wallet("USDC");
  const Json body = transfer_body(from, to, "1");
  const std::string id = app.me().pay("/v1/payments/p2p/own", body);
  CHECK(app.me().get("/v1/transactions/" + id).status == 200);
  for (const std::string& other :
       {body.at("transactionId").get<std::string>(), from, std::string("1"), id + "0"}) {
    const Reply reply = app.me().get("/v1/transactions/" + other);
    INFO(other);
    CHECK(reply.status == 404);
    CHECK(reply.slug() == "not-found");
  }
}

TEST_CASE("the environment of a record is the application's") {
  TestApp app;
  const Client production = app.production();
  const std::string from = production.wallet("USDC"), to = production.wallet("USDC");
  app.issue(from, "USDC", "5");
  const std::string id = production.transfer(from, to, "5");
  app.settle();
  CHECK(production.record(id).at("environment") == "production");
  CHECK(production.balance(to, "USDC") == "5.00");
  CHECK(app.me().get("/v1/transactions/" + id).status == 404);
}
