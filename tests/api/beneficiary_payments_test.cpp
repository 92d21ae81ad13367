// POST /v1/payments/p2p/beneficiary and /v1/payments/swap/beneficiary: to an address of the
// embedded ledger, and payments to other addresses.
#include <catch2/catch.hpp>

#include "auth/strkey.h"
#include "support/recipients.h"
#include "support/scenario.h"
#include "support/test_app.h"

using namespace coffer;
using namespace coffer::test;

namespace beneficiary_payments_test {
namespace {

const std::string kTransfer = "/v1/payments/p2p/beneficiary";
const std::string kSwap = "/v1/payments/swap/beneficiary";

struct World {
  World() {
    app.rate("USDC", "EURC", "0.9");
    app.liquidity("EURC", "1000");
    names = {{"from", from}, {"beneficiary", beneficiary}, {"eurc", eurc_beneficiary}};
  }

  std::string address_of(const Client& client, const std::string& wallet) const {
    return client.get("/v1/wallets/" + wallet).json().at("publicKey");
  }

  TestApp app;
  const Client& me = app.me();
  Client other = app.stranger();
  std::string from = app.wallet("USDC", "100");
  std::string to = other.wallet("USDC");
  std::string to_eurc = other.wallet("EURC");
  std::string beneficiary = add_ledger_recipient(me, address_of(other, to));
  std::string eurc_beneficiary = add_ledger_recipient(me, address_of(other, to_eurc), "EURC");
  Names names;
};

std::string body(const std::string& more = {}) {
  Json json = Json::parse(R"({"transactionId":"$new","sourceWalletId":"$from",
    "beneficiaryId":"$beneficiary","sendingAssetCode":"USDC","amount":"1"})");
  if (!more.empty()) json.merge_patch(Json::parse(more));
  return json.dump();
}

Json paid(World& world, const std::string& target, const std::string& text) {
  const std::string id = world.me.pay(target, Json::parse(filled(text, world.names)));
  world.app.settle();
  return world.me.record(id);
}

std::string failure(const Json& record) {
  CHECK(record.at("status") == "failed");
  return record.contains("statusReason") ? record.at("statusReason").at("code") : "";
}

}  // namespace

TEST_CASE("a payment to a beneficiary's address arrives in another association's wallet") {
  World world;
  const Json record =
      paid(world, kTransfer, body(R"({"amount":"40","fromRef":"INV-7","toRef":"RENT-7"})"));
  CHECK(record.at("type") == "p2p_beneficiary");
  CHECK(record.at("status") == "succeeded");
  CHECK(record.at("beneficiaryId") == world.beneficiary);
  CHECK(record.contains("destinationId"));
  CHECK_FALSE(record.contains("destinationWalletId"));
  CHECK(world.me.funds(world.from, "USDC") == "60.00/60.00/0.00");
  CHECK(world.other.funds(world.to, "USDC") == "40.00/40.00/0.00");

  const std::string range = "&assetCode=USDC&startDate=2026-01-01&endDate=2026-01-02";
  const Json sent =
      world.me.get("/v1/statements/transactions?walletId=" + world.from + range).json();
  CHECK(sent.at("data").back().at("counterparty") == "Ledger Partner");
  CHECK(sent.at("data").back().at("reference") == "INV-7");
  const Json received =
      world.other.get("/v1/statements/transactions?walletId=" + world.to + range).json();
  CHECK(received.at("data").back().at("reference") == "RENT-7");
  // Only the payer can read the record.
  CHECK(received.at("data").back().at("transactionRecordId").is_null());
  CHECK(world.other.get("/v1/transactions/" + record.at("id").get<std::string>()).status == 404);
}

TEST_CASE("a swap to a beneficiary sends exactly the amount and delivers the market's result") {
  World world;
  const Json record = paid(
      world, kSwap, body(R"({"beneficiaryId":"$eurc","receivingAssetCode":"EURC","amount":"10"})"));
  CHECK(record.at("status") == "succeeded");
  CHECK(record.at("receivingAmount") == "9.00");
  CHECK(record.at("path") == "USDC EURC");
  CHECK(world.other.balance(world.to_eurc, "EURC") == "9.00");
}

TEST_CASE("a payment that cannot arrive fails and releases the hold") {
  World world;
  const std::string no_account = auth::generate_key_pair(world.app.random).public_key.to_string();
  world.names["no_account"] = add_ledger_recipient(world.me, no_account);
  world.names["untrusting"] =
      add_ledger_recipient(world.me, world.address_of(world.other, world.to_eurc));
  const std::string pending = world.other.third_party_wallet("USDC");
  world.names["pending"] = add_ledger_recipient(world.me, world.address_of(world.other, pending));
  world.names["elsewhere"] = add_ledger_recipient(
      world.me, "0x52908400098527886E0F7030069857D2E4169EE7", "USDC", "Ethereum");
  world.names["family"] =
      add_ledger_recipient(world.me, world.address_of(world.other, world.to), "USDC", "Stellar");
  const auto outcome = [&](const char* name) {
    return failure(
        paid(world, kTransfer, body(R"({"beneficiaryId":"$)" + std::string(name) + "\"}")));
  };
  CHECK(outcome("no_account") == "destination_not_found");
  CHECK(outcome("elsewhere") == "destination_not_found");
  CHECK(outcome("untrusting") == "trustline_missing");
  CHECK(outcome("pending") == "compliance_rejected");
  CHECK(world.me.funds(world.from, "USDC") == "100.00/100.00/0.00");
  CHECK(paid(world, kTransfer, body(R"({"beneficiaryId":"$family"})")).at("status") == "succeeded");
}

TEST_CASE("an address of the other environment is not found") {
  World world;
  const Client production = world.app.production();
  const std::string wallet = production.wallet("USDC");
  world.names["beneficiary"] = add_ledger_recipient(world.me, world.address_of(production, wallet));
  CHECK(failure(paid(world, kTransfer, body())) == "destination_not_found");
}

TEST_CASE("a swap to a beneficiary keeps its minimum") {
  World world;
  const Json record = paid(
      world, kSwap,
      body(
          R"({"beneficiaryId":"$eurc","receivingAssetCode":"EURC","amount":"10","minReceivingAmount":"9.01"})"));
  CHECK(failure(record) == "slippage_exceeded");
}

TEST_CASE("payments to a beneficiary are rejected as the contract requires") {
  World world;
  const std::string momo = add_recipient(world.me);
  world.names["momo"] = momo;
  const std::string foreign =
      add_ledger_recipient(world.other, world.address_of(world.other, world.to));
  world.names["foreign"] = foreign;
  world.names["wallet2"] = world.other.wallet("USDC", "5");
  // A row in two lines is easier to read than in seven.
  // clang-format off
  run_scenarios(
      world.me,
      {{"destinationWalletId", kTransfer, body(R"({"destinationWalletId":"$from"})"), 400,
        "malformed-request", {"destinationWalletId"}, {"beneficiaryId"}},
       {"foreign beneficiary", kTransfer, body(R"({"beneficiaryId":"$foreign"})"), 404, "not-found",
        {"beneficiaryId"}},
       {"foreign wallet", kTransfer, body(R"({"sourceWalletId":"$wallet2"})"), 404, "not-found",
        {"sourceWalletId"}},
       {"no crypto destination", kTransfer, body(R"({"beneficiaryId":"$momo"})"), 422,
        "validation-failed", {"destinationId"}},
       {"another asset than the address takes", kTransfer,
        body(R"({"sendingAssetCode":"EURC"})"), 422, "", {"destinationId", "sourceWalletId"}},
       {"swap of an asset into itself", kSwap,
        body(R"({"receivingAssetCode":"USDC"})"), 422, "validation-failed", {"receivingAssetCode"}},
       {"swap without receiving asset", kSwap, body(), 400, "malformed-request",
        {"receivingAssetCode"}},
       {"more than there is", kTransfer, body(R"({"amount":"100.01"})"), 422, "insufficient-funds",
        {"amount"}},
       {"retired name", kTransfer, body(R"({"idempotencyKey":"x"})"), 400, "malformed-request",
        {"idempotencyKey"}, {"transactionId"}},
       {"no e-mail registered", kTransfer, body(R"({"notifyEmail":true})"), 422,
        "validation-failed", {"notifyEmail"}},
       {"both ways to notify", kTransfer, body(R"({"notifyEmail":true,"notifyWhatsApp":true})"), 422,
        "validation-failed", {"notifyEmail", "notifyWhatsApp"}},
       {"only checked", kTransfer + "/validate", body(), 200}},
      world.names);
  // clang-format on
  CHECK(world.me.funds(world.from, "USDC") == "100.00/100.00/0.00");
}

TEST_CASE("with several suitable addresses, one must be selected") {
  World world;
  const Reply added =
      world.me.post("/v1/beneficiaries/" + world.beneficiary + "/payment-destinations",
                    {{"method", "CRYPTO"},
                     {"countryIsoCode2", "US"},
                     {"currencyIsoCode3", "USD"},
                     {"crypto",
                      {{"networkName", "COFFER"},
                       {"assetSymbol", "USDC"},
                       {"walletAddress", world.address_of(world.me, world.from)}}}});
  INFO(added.text());
  REQUIRE(added.status == 201);
  world.names["destination"] = added.json().at("id");
  run_scenario(world.me,
               {"unnamed", kTransfer, body(), 422, "validation-failed", {"destinationId"}},
               world.names);
  run_scenario(world.me, {"named", kTransfer, body(R"({"destinationId":"$destination"})"), 202},
               world.names);
}

TEST_CASE("a payment to a beneficiary is replayed by its content") {
  World world;
  Json first = Json::parse(filled(body(), world.names));
  const std::string id = world.me.pay(kTransfer, first);
  const Reply again = world.me.post(kTransfer, first);
  CHECK(again.json().at("transactionRecordId") == id);
  CHECK(again.json().at("isIdempotent") == true);
  first["destinationId"] = world.me.record(id).at("destinationId");
  CHECK(world.me.post(kTransfer, first).json().at("isIdempotent") == true);
  first["beneficiaryId"] = world.eurc_beneficiary;
  first["amount"] = "2";
  const Reply other = world.me.post(kTransfer, first);
  CHECK(other.slug() == "transaction-id-conflict");
  CHECK(other.text().find("beneficiaryId") != std::string::npos);
}

}  // namespace beneficiary_payments_test
