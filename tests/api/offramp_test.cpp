// POST /v1/payments/offramp: off-ramps on a quote, every result of the sandbox, and rejections.
#include <catch2/catch.hpp>

#include "support/connectors.h"
#include "support/recipients.h"
#include "support/scenario.h"
#include "support/test_app.h"

using namespace coffer;
using namespace coffer::test;

namespace offramp_test {
namespace {

const std::string kOfframp = "/v1/payments/offramp";

struct World {
  TestApp app;
  const Client& me = app.me();
  std::string wallet = app.wallet("USDC", "1000");
  std::string connector = add_connector(app);  // 129.5, fee 0.50 and 1 %

  /// Submits 100 USDC (fee 1.50) to a number that ends in `digits`.
  std::string submit(const std::string& digits = "5678") {
    const std::string beneficiary = add_recipient(me, digits);
    return me.pay(kOfframp,
                  cash_out_body(quote_for(me, connector, beneficiary), wallet, beneficiary));
  }
  /// Runs everything that becomes due within the time.
  Json settled(const std::string& id, int ms = 0) {
    app.settle();
    for (int passed = 0; passed < ms; passed += 250) {
      app.clock.advance_ms(250);
      app.settle();
    }
    return me.record(id);
  }
};

std::vector<std::string> history(const Json& record) {
  return member_of_each(record.at("statusHistory"), "status");
}

std::string reason(const Json& record) {
  return record.contains("statusReason") ? record.at("statusReason").at("code") : "";
}

}  // namespace

TEST_CASE("an off-ramp holds its total, debits it, and pays the quoted amount") {
  World world;
  const std::string id = world.submit();
  CHECK(world.me.funds(world.wallet, "USDC") == "1000.00/898.50/101.50");
  const Json record = world.settled(id);
  CHECK(record.at("type") == "offramp");
  CHECK(record.at("status") == "succeeded");
  CHECK(history(record) == std::vector<std::string>{"initiated", "processing", "succeeded"});
  CHECK(record.at("sendingAmount") == "100.00");
  CHECK(record.at("fee") == "1.50");
  CHECK(record.at("total") == "101.50");
  CHECK(record.at("receivingAssetCode") == "KES");
  CHECK(record.at("receivingAmount") == "12950.00");
  CHECK(record.at("connectorId") == world.connector);
  CHECK(record.contains("quoteId"));
  CHECK(record.contains("providerReference"));
  CHECK(record.contains("ledgerTransactionHash"));
  CHECK(world.me.funds(world.wallet, "USDC") == "898.50/898.50/0.00");
}

TEST_CASE("the statement shows an off-ramp and its fee as separate lines") {
  World world;
  world.settled(world.submit());
  const Json lines = world.me
                         .get("/v1/statements/transactions?walletId=" + world.wallet +
                              "&assetCode=USDC&startDate=2026-01-01&endDate=2026-01-02")
                         .json()
                         .at("data");
  REQUIRE(lines.size() == 3);
  CHECK(lines[1].at("amount") == "-100.00");
  CHECK(lines[1].at("counterparty") == "Amina Otieno");
  CHECK(lines[2].at("amount") == "-1.50");
  CHECK(lines[2].at("counterparty") == "Fees");
}

TEST_CASE("a rejected off-ramp fails with its reason and releases the funds") {
  const std::vector<std::pair<std::string, std::string>> outcomes = {
      {"1101", "insufficient_funds"}, {"1102", "account_closed"}, {"1103", "account_not_found"},
      {"1104", "name_mismatch"},      {"1105", "limit_exceeded"}, {"1106", "compliance_rejected"}};
  World world;
  for (const auto& [digits, code] : outcomes) {
    INFO(digits);
    const Json record = world.settled(world.submit(digits));
    CHECK(record.at("status") == "failed");
    CHECK(reason(record) == code);
    CHECK_FALSE(record.contains("refund"));
  }
  CHECK(world.me.funds(world.wallet, "USDC") == "1000.00/1000.00/0.00");
}

TEST_CASE("an off-ramp that stays pending at the provider is debited and can be decided") {
  World world;
  const std::string id = world.submit("1201");
  const Json record = world.settled(id, 60'000);
  CHECK(record.at("status") == "processing");
  CHECK(record.at("substatus") == "awaiting_provider");
  CHECK(world.me.funds(world.wallet, "USDC") == "898.50/898.50/0.00");
  const std::string route = "/v1/sandbox/transactions/" + id;
  CHECK(world.me.send({"POST", route + "/succeed", {}, {}}).json().at("status") == "succeeded");
  CHECK(world.me.send({"POST", route + "/succeed", {}, {}}).json().at("status") == "succeeded");
  CHECK(world.me.send({"POST", route + "/fail", {}, {}}).status == 409);
}

TEST_CASE("an off-ramp in review shows this status and then succeeds") {
  World world;
  const std::string id = world.submit("1202");
  const Json record = world.settled(id);
  CHECK(record.at("status") == "processing");
  CHECK(record.at("substatus") == "in_review");
  CHECK(world.settled(id, 5'000).at("status") == "succeeded");
}

TEST_CASE("a failure after the debit is refunded in full with separate entries") {
  World world;
  const Json record = world.settled(world.submit("1301"), 2'000);
  CHECK(record.at("status") == "refunded");
  CHECK(history(record) == std::vector<std::string>{"initiated", "processing", "failed",
                                                    "refund_pending", "refunded"});
  CHECK(record.at("refund").at("status") == "refunded");
  CHECK(record.at("refund").at("amount") == "101.50");
  CHECK(record.at("version") == 5);
  CHECK(world.me.funds(world.wallet, "USDC") == "1000.00/1000.00/0.00");
}

TEST_CASE("every line of a refunded off-ramp has the sender's reference, in every format") {
  World world;
  const std::string beneficiary = add_recipient(world.me, "1301");
  Json body =
      cash_out_body(quote_for(world.me, world.connector, beneficiary), world.wallet, beneficiary);
  body["fromRef"] = "OFF-F";
  body["toRef"] = "OFF-T";
  REQUIRE(world.settled(world.me.pay(kOfframp, body), 2'000).at("status") == "refunded");
  const std::string path = "/v1/statements/transactions";
  const std::string query =
      "?walletId=" + world.wallet + "&assetCode=USDC&startDate=2026-01-01&endDate=2026-01-02";
  const Json lines = world.me.get(path + query).json().at("data");
  REQUIRE(lines.size() == 5);  // the first is the funding
  const std::vector<std::string> amounts{"-100.00", "-1.50", "100.00", "1.50"};
  for (std::size_t i = 0; i < amounts.size(); ++i) {
    CHECK(lines[i + 1].at("amount") == amounts[i]);
    CHECK(lines[i + 1].at("reference") == "OFF-F");
  }
  for (const char* format : {"csv", "ndjson", "camt.053"}) {
    INFO(format);
    const std::string text = world.me.get(path + '/' + format + query).body;
    std::size_t found = 0;
    for (std::size_t at = 0; (at = text.find("OFF-F", at)) != std::string::npos; ++at) ++found;
    CHECK(found == 4);
    CHECK(text.find("OFF-T") == std::string::npos);
  }
}

TEST_CASE("a refund that the provider rejects leaves the money at the provider and is reported") {
  World world;
  const Json record = world.settled(world.submit("1303"), 2'000);
  CHECK(record.at("status") == "refund_failed");
  CHECK(record.at("refund").at("status") == "failed");
  CHECK(world.me.funds(world.wallet, "USDC") == "898.50/898.50/0.00");
}

TEST_CASE("a provider that never responds leads to a failure without a debit") {
  World world;
  for (const auto& [digits, code] :
       {std::pair("1401", "provider_timeout"), std::pair("1402", "provider_error")}) {
    INFO(digits);
    const Json record = world.settled(world.submit(digits), 10'000);
    CHECK(record.at("status") == "failed");
    CHECK(reason(record) == code);
  }
  CHECK(world.me.funds(world.wallet, "USDC") == "1000.00/1000.00/0.00");
}

TEST_CASE("an off-ramp survives the end of the process at any stage") {
  for (const char* digits : {"5678", "1202", "1301", "1401"}) {
    INFO(digits);
    World world;
    const std::string id = world.submit(digits);
    world.app.restart();
    world.app.settle();
    world.app.restart();
    const Json record = world.settled(id, 10'000);
    const std::string status = record.at("status");
    CHECK((status == "succeeded" || status == "failed" || status == "refunded"));
  }
}

TEST_CASE("a quote is used once") {
  World world;
  const std::string beneficiary = add_recipient(world.me);
  const Json quote = quote_for(world.me, world.connector, beneficiary);
  const Json body = cash_out_body(quote, world.wallet, beneficiary);
  const std::string id = world.me.pay(kOfframp, body);
  const Reply replay = world.me.post(kOfframp, body);
  CHECK(replay.status == 202);
  CHECK(replay.json().at("isIdempotent") == true);
  CHECK(replay.json().at("transactionRecordId") == id);
  CHECK(replay.header("Idempotent-Replayed") == "true");
  const Reply second = world.me.post(kOfframp, cash_out_body(quote, world.wallet, beneficiary));
  CHECK(second.status == 409);
  CHECK(second.slug() == "quote-already-used");
  Json other = body;
  other["toRef"] = "OTHER";
  CHECK(world.me.post(kOfframp, other).slug() == "transaction-id-conflict");
}

TEST_CASE("a quote can be used until it expires") {
  World world;
  const std::string beneficiary = add_recipient(world.me);
  const Json quote = quote_for(world.me, world.connector, beneficiary);
  world.app.clock.advance_ms(120'000);
  const Reply late = world.me.post(kOfframp, cash_out_body(quote, world.wallet, beneficiary));
  CHECK(late.status == 409);
  CHECK(late.slug() == "quote-expired");
}

TEST_CASE("an off-ramp is rejected as the contract requires") {
  World world;
  const std::string beneficiary = add_recipient(world.me);
  const std::string second = add_recipient(world.me);
  const Json quote = quote_for(world.me, world.connector, beneficiary);
  const std::string collection = add_connector(world.app, collection_connector());
  const Json on_ramp = collection_quote(world.me, collection);
  const Client other = world.app.stranger();
  const std::string foreign_wallet = other.wallet("USDC");
  const std::string poor = world.app.wallet("USDC", "101");
  const std::string eurc = world.app.wallet("EURC", "500");
  const auto body = [&](const std::string& patch) {
    Json json = cash_out_body(quote, world.wallet, beneficiary);
    json["transactionId"] = "$new";
    json.merge_patch(Json::parse(patch));
    return json.dump();
  };
  const auto row = [&](const char* name, const std::string& patch, int status, const char* slug,
                       std::vector<std::string> fields) {
    return Scenario{name, kOfframp, body(patch), status, slug, std::move(fields)};
  };
  run_scenarios(
      world.me,
      {row("no quote", R"({"quoteId":null})", 400, "malformed-request", {"quoteId"}),
       row("unknown quote", R"({"quoteId":"01890000-0000-7000-8000-000000000000"})", 404,
           "not-found", {"quoteId"}),
       row("on-ramp quote", R"({"quoteId":")" + on_ramp.at("quoteId").get<std::string>() + "\"}",
           422, "validation-failed", {"quoteId"}),
       row("another beneficiary", R"({"beneficiaryId":")" + second + "\"}", 422,
           "validation-failed", {"beneficiaryId", "destinationId"}),
       row("foreign wallet", R"({"sourceWalletId":")" + foreign_wallet + "\"}", 404, "not-found",
           {"sourceWalletId"}),
       row("wallet without trustline", R"({"sourceWalletId":")" + eurc + "\"}", 422,
           "trustline-missing", {"sourceWalletId"}),
       row("not enough for the fee", R"({"sourceWalletId":")" + poor + "\"}", 422,
           "insufficient-funds", {"quoteId"}),
       row("purpose", R"({"purposeOfPayment":"FUN"})", 422, "validation-failed",
           {"purposeOfPayment"}),
       row("funds", R"({"sourceOfFunds":"FOUND"})", 422, "validation-failed", {"sourceOfFunds"}),
       row("relationship", R"({"relationship":"IT_IS_COMPLICATED"})", 422, "validation-failed",
           {"relationship"}),
       row("unknown field", R"({"amount":"1"})", 400, "malformed-request", {"amount"}),
       row("bad toRef", R"({"toRef":""})", 400, "invalid-reference", {"toRef"}),
       row("nested additional field", R"({"additionalFields":{"a":{"b":1}}})", 400,
           "malformed-request", {"additionalFields.a"}),
       row("additional field that is not required", R"({"additionalFields":{"shoeSize":"43"}})",
           422, "validation-failed", {"additionalFields.shoeSize"})});
  CHECK(world.me.funds(world.wallet, "USDC") == "1000.00/1000.00/0.00");
  run_scenario(world.me, {"only checked", kOfframp + "/validate", body("{}"), 200});
  CHECK(world.me.get("/v1/quotes/" + quote.at("quoteId").get<std::string>()).json().at("status") ==
        "OPEN");
}

TEST_CASE("a suspended association starts no off-ramp, and one in progress finishes") {
  World world;
  const std::string id = world.submit("1202");
  world.app.settle();
  world.app.change_status(world.app.association(), AssociationStatus::suspended);
  const Reply rejected = world.me.post(kOfframp, {{"transactionId", "x"}});
  CHECK(rejected.slug() == "association-suspended");
  CHECK(world.settled(id, 5'000).at("status") == "succeeded");
}

TEST_CASE("lists find off-ramps by beneficiary and connector") {
  World world;
  const std::string id = world.submit();
  world.settled(id);
  const std::string beneficiary = world.me.record(id).at("beneficiaryId");
  world.settled(world.submit());
  CHECK(world.me.all("/v1/transactions?beneficiaryId=" + beneficiary).size() == 1);
  CHECK(world.me.all("/v1/transactions?connectorId=" + world.connector).size() == 2);
  CHECK(world.me.all("/v1/transactions?sort=updatedAt&connectorId=" + world.connector).size() == 2);
}

}  // namespace offramp_test
