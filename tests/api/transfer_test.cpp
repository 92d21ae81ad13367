// POST /v1/payments/p2p/own: acceptance, holds, settlement, and every rejection.
#include <catch2/catch.hpp>

#include "support/armed_fault.h"
#include "support/scenario.h"
#include "support/test_app.h"

using namespace coffer;
using namespace coffer::test;

namespace transfer_test {
namespace {

const std::string kTransfer = "/v1/payments/p2p/own";

/// A transfer of 1 USDC with members added or replaced by `more`.
std::string body(const std::string& more = {}) {
  Json json = Json::parse(R"({"transactionId":"$new","sourceWalletId":"$from",
    "destinationWalletId":"$to","sendingAssetCode":"USDC","amount":"1"})");
  if (!more.empty()) json.merge_patch(Json::parse(more));
  return json.dump();
}

struct World {
  TestApp app;
  std::string from = app.wallet("USDC", "100");
  std::string to = app.wallet("USDC");
  Names names{{"from", from}, {"to", to}};
};

}  // namespace

TEST_CASE("a transfer is acknowledged, held, and then settled") {
  World world;
  const Client& me = world.app.me();
  const Reply reply = me.post(kTransfer, transfer_body(world.from, world.to, "40.5"));
  REQUIRE(reply.status == 202);
  const Json acknowledgement = reply.json();
  CHECK(acknowledgement.at("status") == "accepted");
  CHECK(acknowledgement.at("isIdempotent") == false);
  CHECK_FALSE(reply.has_header("Idempotent-Replayed"));
  const std::string id = acknowledgement.at("transactionRecordId");
  CHECK(Uuid::parse(id));
  CHECK(me.funds(world.from, "USDC") == "100.00/59.50/40.50");
  CHECK(me.funds(world.to, "USDC") == "0.00/0.00/0.00");
  CHECK(me.status(id) == "initiated");
  CHECK(world.app.settle() == 1);
  CHECK(me.funds(world.from, "USDC") == "59.50/59.50/0.00");
  CHECK(me.funds(world.to, "USDC") == "40.50/40.50/0.00");
  CHECK(me.status(id) == "succeeded");
  CHECK(world.app.settle() == 0);
}

TEST_CASE("an acceptance survives the end of the process before it settles") {
  World world;
  const std::string id = world.app.me().transfer(world.from, world.to, "10");
  world.app.restart();
  CHECK(world.app.me().funds(world.from, "USDC") == "100.00/90.00/10.00");
  CHECK(world.app.settle() == 1);
  CHECK(world.app.me().status(id) == "succeeded");
}

TEST_CASE("settlement waits for the configured delay") {
  TestApp app([](Config& config) { config.settle_delay_ms = 5'000; });
  const std::string from = app.wallet("USDC", "10"), to = app.wallet("USDC");
  const std::string id = app.me().transfer(from, to, "1");
  app.clock.advance_ms(4'999);
  CHECK(app.settle() == 0);
  app.clock.advance_ms(1);
  CHECK(app.settle() == 1);
  const Json record = app.me().record(id);
  CHECK(record.at("completedAt") == "2026-01-01T00:00:05.000Z");
}

TEST_CASE("held funds cannot be spent a second time") {
  World world;
  const Client& me = world.app.me();
  me.transfer(world.from, world.to, "60");
  const Reply reply = me.post(kTransfer, transfer_body(world.from, world.to, "40.0000001"));
  CHECK(reply.status == 422);
  CHECK(reply.slug() == "insufficient-funds");
  CHECK(reply.fields() == std::vector<std::string>{"amount"});
  me.transfer(world.from, world.to, "40");
  CHECK(me.funds(world.from, "USDC") == "100.00/0.00/100.00");
  // An incoming amount is not available before its settlement.
  CHECK(me.post(kTransfer, transfer_body(world.to, world.from, "1")).slug() ==
        "insufficient-funds");
  CHECK(world.app.settle() == 2);
  CHECK(me.balance(world.to, "USDC") == "100.00");
  me.transfer(world.to, world.from, "100");
}

TEST_CASE("malformed transfers are 400, with every field") {
  World world;
  // A row in two lines is easier to read than in seven.
  // clang-format off
  run_scenarios(
      world.app.me(),
      {
          {"nothing", kTransfer, "{}", 400, "malformed-request",
           {"transactionId", "sourceWalletId", "destinationWalletId", "sendingAssetCode",
            "amount"}},
          {"nulls", kTransfer, body(R"({"amount":null,"sourceWalletId":null})"), 400,
           "malformed-request", {"amount", "sourceWalletId"}},
          {"wrong types", kTransfer,
           body(R"({"transactionId":1,"sourceWalletId":{},"sendingAssetCode":true,"amount":[],
                    "notifyEmail":"yes","description":1,"memo":[]})"),
           400, "malformed-request",
           {"transactionId", "sourceWalletId", "sendingAssetCode", "amount", "notifyEmail",
            "description", "memo"}},
          {"unknown fields", kTransfer, body(R"({"colour":"red","assetId":1})"), 400,
           "malformed-request", {"colour", "assetId"}},
          {"retired fields point to transactionId", kTransfer,
           body(R"({"idempotencyKey":"a","externalReference":"b"})"), 400, "malformed-request",
           {"idempotencyKey", "externalReference"}, {"send transactionId"}},
          {"fields of other payments", kTransfer,
           body(R"({"receivingAssetCode":"EURC","beneficiaryId":"x"})"), 400, "malformed-request",
           {"receivingAssetCode", "beneficiaryId"}},
          {"transactionId with a space", kTransfer, body(R"({"transactionId":"a b"})"), 400,
           "malformed-request", {"transactionId"}},
          {"transactionId empty", kTransfer, body(R"({"transactionId":""})"), 400,
           "malformed-request", {"transactionId"}},
          {"transactionId of 65", kTransfer,
           body(R"({"transactionId":")" + std::string(65, 'a') + "\"}"), 400, "malformed-request",
           {"transactionId"}},
          {"asset with issuer", kTransfer, body(R"({"sendingAssetCode":"USDC:GA"})"), 400,
           "malformed-request", {"sendingAssetCode"}},
          {"memo of 29 bytes", kTransfer, body(R"({"memo":")" + std::string(29, 'm') + "\"}"), 400,
           "malformed-request", {"memo"}},
          {"memo counts bytes", kTransfer, body(R"({"memo":"ééééééééééééééé"})"), 400,
           "malformed-request", {"memo"}},
          {"description too long", kTransfer,
           body(R"({"description":")" + std::string(141, 'd') + "\"}"), 400, "malformed-request",
           {"description"}},
          {"shape outranks value", kTransfer, body(R"({"amount":"0","fromRef":""})"), 400,
           "invalid-reference", {"amount", "fromRef"}},
      },
      world.names);
  // clang-format on
  CHECK(world.app.me().all("/v1/transactions").empty());
}

TEST_CASE("the longest texts that are accepted") {
  World world;
  const Client& me = world.app.me();
  Json longest = transfer_body(world.from, world.to, "1");
  longest["transactionId"] = std::string(55, 'x') + "aZ09.:_-x";
  longest["memo"] = std::string(28, 'm');
  longest["description"] = std::string(140, 'd');
  longest["fromRef"] = longest["toRef"] = std::string(16, 'R');
  const Json record = me.record(me.pay(kTransfer, longest));
  for (const char* name : {"transactionId", "memo", "description", "fromRef", "toRef"}) {
    CHECK(record.at(name) == longest.at(name));
  }
}

TEST_CASE("references: absent, null, or 1 to 16 letters, digits and hyphens") {
  World world;
  for (const char* good : {"\"A\"", "\"INV-2026-0001-AB\"", "\"-\"", "null"}) {
    INFO(good);
    const std::string text = filled(
        body(R"({"fromRef":)" + std::string(good) + R"(,"toRef":)" + good + "}"), world.names);
    CHECK(world.app.me().post_text(kTransfer, text).status == 202);
  }
  for (const char* bad :
       {"\"\"", "\"12345678901234567\"", "\"a b\"", "\"a_b\"", "\"é\"", "\"a.b\""}) {
    INFO(bad);
    const std::string text =
        filled(body(R"({"fromRef":)" + std::string(bad) + R"(,"toRef":)" + bad + "}"), world.names);
    const Reply reply = world.app.me().post_text(kTransfer, text);
    CHECK(reply.status == 400);
    CHECK(reply.slug() == "invalid-reference");
    CHECK(reply.fields() == std::vector<std::string>{"fromRef", "toRef"});
  }
  const Reply number =
      world.app.me().post_text(kTransfer, filled(body(R"({"fromRef":7})"), world.names));
  CHECK(number.status == 400);
  CHECK(number.slug() == "malformed-request");
}

TEST_CASE("transfers that are well formed, but have an invalid value or state") {
  World world;
  const Client& me = world.app.me();
  world.names["unknown_id"] = world.app.random.uuid_v7(world.app.clock.now()).to_string();
  world.names["pending"] = me.third_party_wallet("USDC");
  world.names["rejected"] = me.third_party_wallet("USDC", "Mwangi002");
  world.names["euro"] = me.wallet("EURC");
  // A row in two lines is easier to read than in seven.
  // clang-format off
  run_scenarios(
      me,
      {
          {"same wallet", kTransfer, body(R"({"destinationWalletId":"$from"})"), 422,
           "validation-failed", {"destinationWalletId"}},
          {"both notifications", kTransfer, body(R"({"notifyEmail":true,"notifyWhatsApp":true})"),
           422, "validation-failed", {"notifyEmail", "notifyWhatsApp"}},
          {"no registered e-mail", kTransfer, body(R"({"notifyEmail":true})"), 422,
           "validation-failed", {"notifyEmail"}},
          {"no registered number", kTransfer, body(R"({"notifyWhatsApp":true})"), 422,
           "validation-failed", {"notifyWhatsApp"}},
          {"no such asset", kTransfer, body(R"({"sendingAssetCode":"NOPE"})"), 422,
           "validation-failed", {"sendingAssetCode"}},
          {"no such source", kTransfer, body(R"({"sourceWalletId":"$unknown_id"})"), 404, "not-found",
           {"sourceWalletId"}},
          {"no such destination", kTransfer, body(R"({"destinationWalletId":"$unknown_id"})"), 404,
           "not-found", {"destinationWalletId"}},
          {"ids that are none", kTransfer,
           body(R"({"sourceWalletId":"1","destinationWalletId":"x"})"), 404, "not-found",
           {"sourceWalletId", "destinationWalletId"}},
          {"pending destination", kTransfer, body(R"({"destinationWalletId":"$pending"})"), 409,
           "wallet-not-verified", {"destinationWalletId"}, {"Pending"}},
          {"rejected source", kTransfer, body(R"({"sourceWalletId":"$rejected"})"), 409,
           "wallet-not-verified", {"sourceWalletId"}, {"Rejected"}},
          {"destination without a trustline", kTransfer,
           body(R"({"destinationWalletId":"$euro"})"), 422, "trustline-missing",
           {"destinationWalletId"}},
          {"source without a trustline", kTransfer,
           body(R"({"sourceWalletId":"$euro","destinationWalletId":"$to"})"), 422,
           "trustline-missing", {"sourceWalletId"}},
          {"no funds", kTransfer, body(R"({"amount":"100.0000001"})"), 422, "insufficient-funds",
           {"amount"}},
      },
      world.names);
  // clang-format on
  CHECK(me.all("/v1/transactions").empty());
  CHECK(me.funds(world.from, "USDC") == "100.00/100.00/0.00");
}

TEST_CASE("a notification requires a receiver with a registered address") {
  World world;
  const Client& me = world.app.me();
  Json metadata = person();
  metadata["email"] = "w@example.com";
  metadata["phone"] = "+254712345678";
  REQUIRE(me.put("/v1/wallets/" + world.to, {{"metadata", metadata}}).status == 200);
  for (const char* flag : {"notifyEmail", "notifyWhatsApp"}) {
    Json with_flag = transfer_body(world.from, world.to, "1");
    with_flag[flag] = true;
    CHECK(me.post(kTransfer, with_flag).status == 202);
  }
}

TEST_CASE("validation runs every check and stores nothing") {
  World world;
  const Client& me = world.app.me();
  const std::string dry = kTransfer + "/validate";
  const Json transfer = transfer_body(world.from, world.to, "40");
  for (int i = 0; i < 2; ++i) {
    const Reply reply = me.post(dry, transfer);
    CHECK(reply.status == 200);
    CHECK(reply.json() == Json{{"valid", true}});
  }
  CHECK(me.all("/v1/transactions").empty());
  CHECK(me.funds(world.from, "USDC") == "100.00/100.00/0.00");
  CHECK(me.post(dry, transfer_body(world.from, world.to, "101")).slug() == "insufficient-funds");
  CHECK(me.post(dry, transfer_body(world.from, world.from, "1")).status == 422);
  // The ID is still unused, also for another body.
  Json other = transfer;
  other["amount"] = "1";
  CHECK(me.post(kTransfer, other).status == 202);
  // Once the ID is used, the same checks report it.
  CHECK(me.post(dry, transfer).slug() == "transaction-id-conflict");
  CHECK(me.post(dry, other).status == 200);
  CHECK(world.app.settle() == 1);
}

TEST_CASE("nothing of a submission is stored if the store rejects it") {
  World world;
  const Client& me = world.app.me();
  const Json transfer = transfer_body(world.from, world.to, "1");
  const auto rejected = [&](const char* fault_point, const char* slug) {
    // The free space is checked every 250 ms only.
    world.app.clock.advance_ms(1'000);
    const ArmedFault fault(fault_point);
    const Reply reply = me.post(kTransfer, transfer);
    INFO(fault_point << reply.text());
    CHECK(reply.status == 503);
    CHECK(reply.slug() == slug);
    CHECK_FALSE(reply.header("Retry-After").empty());
    CHECK(me.get("/v1/wallets/" + world.from).status == 200);
  };
  rejected("queue.full=fail", "overloaded");
  rejected("disk.full=fail", "storage-full");
  CHECK(me.all("/v1/transactions").empty());
  CHECK(me.post(kTransfer, transfer).status == 202);
}

}  // namespace transfer_test
