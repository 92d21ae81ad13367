// POST /v1/payments/p2p/own/multi: several transfers as one; all settle or none.
#include <catch2/catch.hpp>

#include "support/scenario.h"
#include "support/test_app.h"

using namespace coffer;
using namespace coffer::test;

namespace multi_test {
namespace {

const std::string kMulti = "/v1/payments/p2p/own/multi";

std::string leg_field(std::size_t leg, const char* name) {
  return "transfers[" + std::to_string(leg) + "]." + name;
}

struct World {
  TestApp app;
  std::string a = app.wallet("USDC", "100");
  std::string b = app.wallet("USDC", "50");
  std::string c = app.wallet("USDC");

  /// Four valid legs over all three wallets.
  Json body() {
    return multi_body({transfer_body(a, b, "10"), transfer_body(b, c, "20"),
                       transfer_body(c, a, "5"), transfer_body(a, c, "1.5")});
  }
  std::string funds() {
    std::string text;
    for (const std::string& id : {a, b, c}) text += app.me().funds(id, "USDC") + " ";
    return text;
  }
};

}  // namespace

TEST_CASE("all legs settle in one ledger transaction") {
  World world;
  const Client& me = world.app.me();
  Json body = world.body();
  body["memo"] = "payroll";
  body["transfers"][1]["fromRef"] = "LEG-1";
  body["transfers"][1]["description"] = "Second";
  const std::string id = me.pay(kMulti, body);
  CHECK(me.status(id) == "initiated");
  CHECK(world.app.settle() == 1);
  CHECK(world.funds() == "93.50/93.50/0.00 40.00/40.00/0.00 16.50/16.50/0.00 ");
  const Json record = me.record(id);
  CHECK(record.at("status") == "succeeded");
  CHECK(record.at("type") == "p2p_own_multi");
  CHECK(record.at("memo") == "payroll");
  CHECK(record.at("total") == "36.50");
  CHECK(record.at("sendingAssetCode") == "USDC");
  CHECK(record.at("ledgerTransactionHash").get<std::string>().size() == 64);
  CHECK_FALSE(record.contains("sourceWalletId"));
  REQUIRE(record.at("legs").size() == 4);
  CHECK(record.at("legs")[1] == Json{{"sourceWalletId", world.b},
                                     {"destinationWalletId", world.c},
                                     {"sendingAssetCode", "USDC"},
                                     {"amount", "20.00"},
                                     {"fromRef", "LEG-1"},
                                     {"description", "Second"}});
}

TEST_CASE("with one invalid leg at any position, nothing is applied") {
  World world;
  const Client& me = world.app.me();
  const std::string before = world.funds();
  struct Row {
    const char* change;
    int status;
    const char* slug;
    const char* field;
  };
  const std::string unknown_id = world.app.random.uuid_v7(world.app.clock.now()).to_string();
  const std::string unknown = R"({"destinationWalletId":")" + unknown_id + "\"}";
  const Row rows[] = {
      {R"({"amount":"1000"})", 422, "insufficient-funds", "amount"},
      {R"({"amount":"0"})", 422, "amount-out-of-range", "amount"},
      {R"({"amount":"0.00000001"})", 422, "amount-precision", "amount"},
      {R"({"amount":true})", 400, "malformed-request", "amount"},
      {R"({"fromRef":"no spaces"})", 400, "invalid-reference", "fromRef"},
      {R"({"sendingAssetCode":"EURC"})", 422, "trustline-missing", nullptr},
      {R"({"sendingAssetCode":"NOPE"})", 422, "validation-failed", "sendingAssetCode"},
      {R"({"memo":"of a leg"})", 400, "malformed-request", "memo"},
      {unknown.c_str(), 404, "not-found", "destinationWalletId"},
  };
  for (const Row& row : rows) {
    for (std::size_t leg = 0; leg < 4; ++leg) {
      Json body = world.body();
      body["transfers"][leg].merge_patch(Json::parse(row.change));
      const Reply reply = me.post(kMulti, body);
      INFO("leg " << leg << " " << row.change << " -> " << reply.text());
      CHECK(reply.status == row.status);
      CHECK(reply.slug() == row.slug);
      for (const std::string& field : reply.fields()) {
        CHECK_THAT(field, Catch::Matchers::StartsWith(leg_field(leg, "")));
      }
      if (row.field != nullptr) {
        CHECK(reply.fields() == std::vector<std::string>{leg_field(leg, row.field)});
      } else {
        CHECK_FALSE(reply.fields().empty());
      }
    }
  }
  CHECK(world.funds() == before);
  CHECK(me.all("/v1/transactions").empty());
}

TEST_CASE("a leg from a wallet to itself is reported") {
  World world;
  Json body = world.body();
  body["transfers"][2]["destinationWalletId"] = body["transfers"][2]["sourceWalletId"];
  const Reply reply = world.app.me().post(kMulti, body);
  CHECK(reply.status == 422);
  CHECK(reply.fields() == std::vector<std::string>{"transfers[2].destinationWalletId"});
}

TEST_CASE("errors of several legs are reported together") {
  World world;
  Json body = world.body();
  body["transfers"][0].erase("amount");
  body["transfers"][3]["toRef"] = "";
  body["transfers"][1]["idempotencyKey"] = "x";
  const Reply reply = world.app.me().post(kMulti, body);
  CHECK(reply.status == 400);
  CHECK(reply.fields() == std::vector<std::string>{"transfers[0].amount",
                                                   "transfers[1].idempotencyKey",
                                                   "transfers[3].toRef"});
}

TEST_CASE("amounts received in an earlier leg may be spent in a later one") {
  TestApp app;
  const Client& me = app.me();
  const std::string a = app.wallet("USDC", "10"), b = app.wallet("USDC"), c = app.wallet("USDC");
  const std::string id = me.pay(
      kMulti,
      multi_body({transfer_body(a, b, "10"), transfer_body(b, c, "10"), transfer_body(c, a, "4")}));
  // Only the wallets' own contributions are held.
  CHECK(me.funds(a, "USDC") == "10.00/0.00/10.00");
  CHECK(me.funds(b, "USDC") == "0.00/0.00/0.00");
  app.settle();
  CHECK(me.status(id) == "succeeded");
  CHECK(me.balance(a, "USDC") == "4.00");
  CHECK(me.balance(b, "USDC") == "0.00");
  CHECK(me.balance(c, "USDC") == "6.00");
  // In the other order, the first leg has nothing to spend: the order of the legs matters.
  const Reply reply =
      me.post(kMulti, multi_body({transfer_body(b, a, "1"), transfer_body(a, b, "1")}));
  CHECK(reply.slug() == "insufficient-funds");
  CHECK(reply.fields() == std::vector<std::string>{"transfers[0].amount"});
}

TEST_CASE("legs together cannot spend more than the balance") {
  World world;
  const Reply reply =
      world.app.me().post(kMulti, multi_body({transfer_body(world.a, world.b, "60"),
                                              transfer_body(world.a, world.c, "40.0000001")}));
  CHECK(reply.slug() == "insufficient-funds");
  CHECK(reply.fields() == std::vector<std::string>{"transfers[1].amount"});
}

TEST_CASE("a sum beyond the largest amount is out of range, not a small number") {
  World world;
  const Json huge = transfer_body(world.a, world.b, "922337203685.4775807");
  const Reply reply = world.app.me().post(kMulti, multi_body({huge, huge}));
  CHECK(reply.status == 422);
  CHECK(reply.slug() == "amount-out-of-range");
  CHECK(reply.fields() == std::vector<std::string>{"transfers[1].amount"});
}

TEST_CASE("legs in several assets have no total") {
  World world;
  const Client& me = world.app.me();
  for (const std::string& id : {world.a, world.b}) me.trustline(id, "KES");
  me.fund(world.a, "KES", "10");
  const std::string id =
      me.pay(kMulti, multi_body({transfer_body(world.a, world.b, "1"),
                                 transfer_body(world.a, world.b, "2.50", "KES")}));
  world.app.settle();
  const Json record = me.record(id);
  CHECK(record.at("status") == "succeeded");
  CHECK_FALSE(record.contains("total"));
  CHECK_FALSE(record.contains("sendingAssetCode"));
  CHECK(record.at("legs")[1].at("amount") == "2.50");
  CHECK(me.balance(world.b, "KES") == "2.50");
}

TEST_CASE("one to a hundred legs") {
  World world;
  const Client& me = world.app.me();
  const auto with_legs = [&](std::size_t count) {
    return multi_body(std::vector<Json>(count, transfer_body(world.a, world.b, "0.1")));
  };
  for (const std::size_t count : {std::size_t{0}, std::size_t{101}}) {
    const Reply reply = me.post(kMulti, with_legs(count));
    CHECK(reply.status == 400);
    CHECK(reply.slug() == "malformed-request");
    CHECK(reply.fields() == std::vector<std::string>{"transfers"});
  }
  me.pay(kMulti, with_legs(1));
  me.pay(kMulti, with_legs(100));
  CHECK(world.app.settle() == 2);
  CHECK(me.balance(world.b, "USDC") == "60.10");
}

TEST_CASE("malformed multi-transfers") {
  World world;
  run_scenarios(
      world.app.me(),
      {
          {"nothing", kMulti, "{}", 400, "malformed-request", {"transactionId", "transfers"}},
          {"no array",
           kMulti,
           R"({"transactionId":"$new","transfers":{}})",
           400,
           "malformed-request",
           {"transfers"}},
          {"legs that are no objects",
           kMulti,
           R"({"transactionId":"$new","transfers":[1,null]})",
           400,
           "malformed-request",
           {"transfers[0]", "transfers[1]"}},
          {"an empty leg",
           kMulti,
           R"({"transactionId":"$new","transfers":[{}]})",
           400,
           "malformed-request",
           {"transfers[0].sourceWalletId", "transfers[0].destinationWalletId",
            "transfers[0].sendingAssetCode", "transfers[0].amount"}},
          {"fields of a single payment",
           kMulti,
           R"({"transactionId":"$new","transfers":[],"amount":1,"notifyEmail":true})",
           400,
           "malformed-request",
           {"transfers", "amount", "notifyEmail"}},
          {"retired",
           kMulti,
           R"({"transactionId":"$new","transfers":[],"idempotencyKey":"x"})",
           400,
           "malformed-request",
           {"transfers", "idempotencyKey"},
           {"send transactionId"}},
      });
}

TEST_CASE("validation of a multi-transfer holds nothing") {
  World world;
  const std::string before = world.funds();
  CHECK(world.app.me().post(kMulti + "/validate", world.body()).json() == Json{{"valid", true}});
  CHECK(world.funds() == before);
  Json body = world.body();
  body["transfers"][3]["amount"] = "1000";
  CHECK(world.app.me().post(kMulti + "/validate", body).fields() ==
        std::vector<std::string>{"transfers[3].amount"});
}

}  // namespace multi_test
