// POST /v1/payments/onramp and the collections of the Connect group.
#include <catch2/catch.hpp>

#include "base/thread.h"
#include "support/connectors.h"
#include "support/recipients.h"
#include "support/scenario.h"
#include "support/test_app.h"
#include "unit/store/busy_writer.h"

using namespace coffer;
using namespace coffer::test;

namespace onramp_test {
namespace {

const std::string kOnramp = "/v1/payments/onramp";

struct World {
  // An on-ramp may take longer than a token lives.
  TestApp app{[](Config& config) { config.token_lifetime_s = 86'400; }};
  const Client& me = app.me();
  std::string wallet = app.wallet("USDC");
  std::string connector = add_connector(app, collection_connector());  // 0.0075, fee 10 and 1 %

  /// 10,000 KES, of which 110 are the fee: 9,890 x 0.0075 = 74.175 USDC.
  std::string submit(const std::string& account = "1234567890") {
    return me.pay(kOnramp, collection_body(collection_quote(me, connector), wallet, account));
  }
  Json settled(const std::string& id, int ms = 0) {
    app.settle();
    for (int passed = 0; passed < ms; passed += 250) {
      app.clock.advance_ms(250);
      app.settle();
    }
    return me.record(id);
  }
};

}  // namespace

TEST_CASE("a collection shows its instructions, then credits the quoted amount") {
  World world;
  const std::string id = world.submit();
  Json record = world.settled(id);
  CHECK(record.at("type") == "onramp");
  CHECK(record.at("status") == "processing");
  CHECK(record.at("substatus") == "awaiting_payment");
  CHECK(record.at("instructions").size() >= 3);
  CHECK(record.contains("instructionsExpireAt"));
  CHECK(world.me.balance(world.wallet, "USDC") == "0.00");
  record = world.settled(id, 1'000);
  CHECK(record.at("status") == "succeeded");
  CHECK(record.at("sendingAssetCode") == "KES");
  CHECK(record.at("sendingAmount") == "10000.00");
  CHECK(record.at("total") == "10000.00");
  CHECK(record.at("fee") == "110.00");
  CHECK(record.at("receivingAssetCode") == "USDC");
  CHECK(record.at("receivingAmount") == "74.175");
  CHECK(world.me.balance(world.wallet, "USDC") == "74.175");
}

TEST_CASE("an unpaid on-ramp expires") {
  World world;
  const std::string id = world.submit("1201");
  CHECK(world.settled(id, 1'000).at("status") == "processing");
  world.app.clock.advance_ms(3'600'000);
  const Json record = world.settled(id, 1'000);
  CHECK(record.at("status") == "expired");
  CHECK(record.contains("completedAt"));
  CHECK(world.me.balance(world.wallet, "USDC") == "0.00");
}

TEST_CASE("a collection fails with the payer's reason") {
  World world;
  const Json record = world.settled(world.submit("0001101"), 1'000);
  CHECK(record.at("status") == "failed");
  CHECK(record.at("statusReason").at("code") == "insufficient_funds");
}

TEST_CASE("payers of the sandbox pay too little, too much or nearly nothing") {
  World world;
  const auto paid = [&](const char* account) {
    return world.settled(world.submit(account), 1'000);
  };
  const Json less = paid("0001501");
  CHECK(less.at("substatus") == "underpaid");
  CHECK(less.at("collectedAmount") == "9000.00");
  CHECK(less.at("receivingAmount") == "66.675");
  const Json more = paid("0001502");
  CHECK(more.at("substatus") == "overpaid");
  CHECK(more.at("excessAmount") == "1000.00");
  CHECK(more.at("receivingAmount") == "74.175");
  const Json nothing = paid("0001503");
  CHECK(nothing.at("status") == "failed");
  CHECK(nothing.at("statusReason").at("code") == "underpaid");
  CHECK(world.me.balance(world.wallet, "USDC") == "140.85");
}

TEST_CASE("the sandbox decides a waiting collection") {
  World world;
  const std::string first = world.submit("1201");
  const std::string second = world.submit("1201");
  world.app.settle();
  CHECK(world.me.send({"POST", "/v1/sandbox/transactions/" + first + "/succeed", {}, {}}).status ==
        200);
  CHECK(world.me.status(first) == "succeeded");
  const Reply failed = world.me.send(
      {"POST", "/v1/sandbox/transactions/" + second + "/fail?code=compliance_rejected", {}, {}});
  CHECK(failed.json().at("statusReason").at("code") == "compliance_rejected");
  CHECK(world.me.balance(world.wallet, "USDC") == "74.175");
  CHECK(world.me.send({"POST", "/v1/sandbox/transactions/" + second + "/fail?code=bad", {}, {}})
            .status == 400);
}

TEST_CASE("a collected amount waits while the wallet is under review") {
  World world;
  world.wallet = world.me.third_party_wallet("USDC");
  world.me.send({"POST", "/v1/sandbox/wallets/" + world.wallet + "/verify", {}, {}});
  const std::string id = world.submit("1202");
  world.app.settle();
  Json other = person("Kamau");
  CHECK(world.me.put("/v1/wallets/" + world.wallet, {{"metadata", other}}).status == 200);
  CHECK(world.settled(id, 5'000).at("status") == "processing");
  CHECK(world.me.balance(world.wallet, "USDC") == "0.00");
  world.me.send({"POST", "/v1/sandbox/wallets/" + world.wallet + "/verify", {}, {}});
  world.app.clock.advance_ms(60'000);
  CHECK(world.settled(id, 1'000).at("status") == "succeeded");
}

TEST_CASE("a collection is rejected as the contract requires") {
  World world;
  const Json quote = collection_quote(world.me, world.connector);
  const std::string payout = add_connector(world.app);
  const std::string beneficiary = add_recipient(world.me);
  const Json off_ramp = quote_for(world.me, payout, beneficiary);
  const std::string eurc = world.app.wallet("EURC");
  const auto row = [&](const char* name, const std::string& patch, int status, const char* slug,
                       std::vector<std::string> fields) {
    Json json = collection_body(quote, world.wallet);
    json["transactionId"] = "$new";
    json.merge_patch(Json::parse(patch));
    return Scenario{name, kOnramp, json.dump(), status, slug, std::move(fields)};
  };
  run_scenarios(
      world.me,
      {row("no payer", R"({"payer":null})", 400, "malformed-request", {"payer"}),
       row("payer without name", R"({"payer":{"name":null}})", 400, "malformed-request",
           {"payer.name"}),
       row("payer with a short phone number", R"({"payer":{"name":"x","phone":"12"}})", 400,
           "malformed-request", {"payer.phone"}),
       row("payer with a phone number of letters", R"({"payer":{"name":"x","phone":"abc"}})", 400,
           "malformed-request", {"payer.phone"}),
       row("unknown payer field", R"({"payer":{"name":"x","iban":"y"}})", 400, "malformed-request",
           {"payer.iban"}),
       row("off-ramp quote", R"({"quoteId":")" + off_ramp.at("quoteId").get<std::string>() + "\"}",
           422, "validation-failed", {"quoteId"}),
       row("wallet without trustline", R"({"destinationWalletId":")" + eurc + "\"}", 422,
           "trustline-missing", {"destinationWalletId"}),
       row("source wallet", R"({"sourceWalletId":")" + eurc + "\"}", 400, "malformed-request",
           {"sourceWalletId"})});
  world.app.clock.advance_ms(120'000);
  run_scenario(world.me, row("expired", "{}", 409, "quote-expired", {"quoteId"}));
}

TEST_CASE("Connect collects on a quote, or quotes and collects in one call") {
  World world;
  const Json quote = collection_quote(world.me, world.connector);
  const Reply onramp = world.me.post("/v1/connect-onramp", collection_body(quote, world.wallet));
  INFO(onramp.text());
  REQUIRE(onramp.status == 202);
  CHECK(world.settled(onramp.json().at("transactionRecordId"), 1'000).at("status") == "succeeded");

  const Json body{{"transactionId", fresh_transaction_id()},
                  {"connectorId", world.connector},
                  {"amount", 10000},
                  {"destinationWalletId", world.wallet},
                  {"payer", {{"name", "Joseph Mwangi"}}}};
  const Reply cash_in = world.me.post("/v1/connect-cashin", body);
  INFO(cash_in.text());
  REQUIRE(cash_in.status == 202);
  CHECK(cash_in.json().at("quote").at("receiveAmount") == "74.175");
  const Reply again = world.me.post("/v1/connect-cashin", body);
  CHECK(again.status == 202);
  CHECK(again.json().at("isIdempotent") == true);
  CHECK(again.json().at("transactionRecordId") == cash_in.json().at("transactionRecordId"));
  for (const auto& [field, value] : std::map<std::string, Json>{
           {"amount", 20000},
           {"connectorId", add_connector(world.app, collection_connector())},
           {"transactionType", "B2B"}}) {
    Json other = body;
    other[field] = value;
    const Reply reply = world.me.post("/v1/connect-cashin", other);
    INFO(field << " " << reply.text());
    CHECK(reply.status == 409);
    CHECK(reply.slug() == "transaction-id-conflict");
    CHECK(reply.fields() == std::vector<std::string>{field});
  }
  world.settled(cash_in.json().at("transactionRecordId"), 1'000);
  CHECK(world.me.balance(world.wallet, "USDC") == "148.35");
}

TEST_CASE("two concurrent identical Connect collections are one payment, acknowledged twice") {
  World world;
  const Json body{{"transactionId", fresh_transaction_id()},
                  {"connectorId", world.connector},
                  {"amount", 10000},
                  {"destinationWalletId", world.wallet},
                  {"payer", {{"name", "Joseph Mwangi"}}}};
  Json other = body;
  other["amount"] = 20000;
  Reply one, two, different;
  {
    store::test::BusyWriter busy(world.app.core().queue());
    const auto send = [&](const char* name, Reply& reply, const Json& content) {
      return Thread(name, [&] { reply = world.me.post("/v1/connect-cashin", content); });
    };
    Thread first = send("one", one, body);
    busy.gathered(1);
    Thread second = send("two", two, body);
    Thread third = send("three", different, other);
    busy.gathered(3);  // no request has found a payment, and each has its own quote
    busy.open();
    first.join();
    second.join();
    third.join();
  }
  const bool other_won = different.status == 202;
  for (const Reply* reply : {&one, &two}) {
    INFO(reply->text());
    CHECK(reply->status == (other_won ? 409 : 202));
    if (other_won) CHECK(reply->fields() == std::vector<std::string>{"amount"});
  }
  if (!other_won) {
    CHECK(one.json().at("transactionRecordId") == two.json().at("transactionRecordId"));
    CHECK(one.json().at("quote") == two.json().at("quote"));
    CHECK(one.json().at("isIdempotent") != two.json().at("isIdempotent"));
    CHECK(different.status == 409);
    CHECK(different.fields() == std::vector<std::string>{"amount"});
  }
  CHECK(world.me.all("/v1/transactions").size() == 1);
}

}  // namespace onramp_test
