// POST /v1/payments/{transactionRecordId}/reversals (docs/contract.md#refunds).
#include <catch2/catch.hpp>

#include "flows/providers/refunds.h"
#include "store/operations/verification.h"
#include "support/connectors.h"
#include "support/recipients.h"
#include "support/scenario.h"
#include "support/test_app.h"

using namespace coffer;
using namespace coffer::test;

namespace reversals_test {
namespace {

struct World {
  TestApp app;
  const Client& me = app.me();
  std::string from = app.wallet("USDC", "100");
  std::string to = app.wallet("USDC");

  std::string paid(const std::string& amount = "40", const char* reference = "FROM-1") {
    Json body = transfer_body(from, to, amount);
    body["fromRef"] = reference;
    body["toRef"] = "TO-1";
    const std::string id = me.pay("/v1/payments/p2p/own", body);
    app.settle();
    return id;
  }
  Reply reverse(const std::string& id, const Json& more = Json::object()) {
    Json body{{"transactionId", fresh_transaction_id()}, {"reason", "Paid twice"}};
    body.merge_patch(more);
    return me.post("/v1/payments/" + id + "/reversals", body);
  }
  std::string by_operator(const std::string& id, const char* amount = nullptr) {
    flows::Reversal reversal{*PaymentId::parse(id), fresh_transaction_id(), {}, "Agreed"};
    if (amount != nullptr) reversal.amount = test::amount(amount);
    const auto done = flows::reverse_for_operator(app.flows(), reversal);
    return done ? "done" : std::string(info(done.error().slug).name);
  }
  std::string funds() { return me.funds(from, "USDC") + " " + me.funds(to, "USDC"); }
  std::string address(const std::string& wallet) {
    return me.get("/v1/wallets/" + wallet).json().at("publicKey");
  }
  std::vector<Json> lines(const std::string& wallet) {
    return me
        .get("/v1/statements/transactions?walletId=" + wallet +
             "&assetCode=USDC&startDate=2026-01-01&endDate=2026-02-01")
        .json()
        .at("data");
  }
};

std::vector<std::string> way(const Json& record) {
  return member_of_each(record.at("statusHistory"), "status");
}

using Ways = std::vector<std::string>;

}  // namespace

TEST_CASE("a transfer is reversed in parts, and never beyond its amount") {
  World world;
  const std::string id = world.paid();
  REQUIRE(world.funds() == "60.00/60.00/0.00 40.00/40.00/0.00");
  const Reply first = world.reverse(id, {{"amount", "15.50"}});
  REQUIRE(first.status == 202);
  CHECK(first.json().at("transactionRecordId") == id);
  CHECK(first.json().at("isIdempotent") == false);
  CHECK(world.funds() == "75.50/75.50/0.00 24.50/24.50/0.00");
  CHECK(world.me.record(id).at("refund").at("amount") == "15.50");
  CHECK(world.reverse(id, {{"amount", "24.5000001"}}).slug() == "reversal-exceeds-payment");
  CHECK(world.reverse(id).status == 202);
  CHECK(world.funds() == "100.00/100.00/0.00 0.00/0.00/0.00");
  CHECK(world.reverse(id).slug() == "reversal-exceeds-payment");
  CHECK(world.reverse(id, {{"amount", "0.01"}}).slug() == "reversal-exceeds-payment");
  const Json record = world.me.record(id);
  CHECK(record.at("status") == "refunded");
  CHECK(record.at("refund").at("amount") == "40.00");
  CHECK(record.at("refund").at("reason") == "Paid twice");
  CHECK(way(record) ==
        Ways{"initiated", "processing", "succeeded", "refund_pending", "refunded", "refunded"});
  // The references of a payment and of its refunds net to zero.
  Ways sent, received;
  for (const Json& line : world.lines(world.from)) {
    if (line.at("transactionRecordId") != id) continue;
    CHECK(line.at("reference") == "FROM-1");
    sent.push_back(line.at("amount"));
  }
  for (const Json& line : world.lines(world.to)) {
    CHECK(line.at("reference") == "TO-1");
    received.push_back(line.at("amount"));
  }
  CHECK(sent == Ways{"-40.00", "15.50", "24.50"});
  CHECK(received == Ways{"40.00", "-15.50", "-24.50"});
}

TEST_CASE("a payment is reversed in at most 100 parts, and the last takes all that is left") {
  World world;
  const std::string id = world.paid();
  for (int i = 0; i < 99; ++i) REQUIRE(world.reverse(id, {{"amount", "0.10"}}).status == 202);
  const Reply further = world.reverse(id, {{"amount", "0.10"}});
  CHECK(further.slug() == "validation-failed");
  CHECK_THAT(further.text(), Catch::Matchers::Contains("Reverse all that is left"));
  CHECK(world.reverse(id).status == 202);
  CHECK(world.funds() == "100.00/100.00/0.00 0.00/0.00/0.00");
}

TEST_CASE("a repeated reversal returns the first result, and another body is a conflict") {
  World world;
  const std::string id = world.paid(), other = world.paid("10");
  const Json body{{"transactionId", "rev-1"}, {"amount", "5"}, {"reason", "Paid twice"}};
  const std::string path = "/v1/payments/" + id + "/reversals";
  REQUIRE(world.me.post(path, body).status == 202);
  const std::string after = world.funds();
  world.app.change_status(world.app.association(), AssociationStatus::suspended);
  const Reply again =
      world.me.post_text(path, R"({"reason":"Paid twice","amount":5.0,"transactionId":"rev-1"})");
  REQUIRE(again.status == 202);
  CHECK(again.json().at("isIdempotent") == true);
  CHECK(again.header("Idempotent-Replayed") == "true");
  world.app.change_status(world.app.association(), AssociationStatus::active);
  struct Case {
    std::string path;
    Json change;
    const char* field;
  };
  for (const auto& [target, change, field] : std::vector<Case>{
           {path, {{"amount", "6"}}, "amount"},
           {path, {{"amount", nullptr}}, "amount"},
           {path, {{"reason", "Other"}}, "reason"},
           {"/v1/payments/" + other + "/reversals", Json::object(), "transactionRecordId"}}) {
    Json changed = body;
    changed.merge_patch(change);
    const Reply reply = world.me.post(target, changed);
    INFO(reply.text());
    CHECK(reply.slug() == "transaction-id-conflict");
    CHECK(reply.json().at("errors").at(0).at("field") == field);
  }
  // Payments and reversals share one namespace.
  Json transfer = transfer_body(world.from, world.to, "1");
  transfer["transactionId"] = "rev-1";
  CHECK(world.me.post("/v1/payments/p2p/own", transfer).slug() == "transaction-id-conflict");
  transfer["transactionId"] = "pay-1";
  REQUIRE(world.me.post("/v1/payments/p2p/own", transfer).status == 202);
  CHECK(world.reverse(id, {{"transactionId", "pay-1"}}).slug() == "transaction-id-conflict");
  world.app.settle();
  // A rejected reversal does not use up its ID.
  CHECK(world.reverse(id, {{"transactionId", "rev-2"}, {"amount", "90"}}).status == 422);
  CHECK(world.reverse(id, {{"transactionId", "rev-2"}, {"amount", "1"}}).status == 202);
  CHECK(world.me.funds(world.from, "USDC") == "55.00/55.00/0.00");
}

TEST_CASE("a validation runs every check and moves nothing") {
  World world;
  const std::string id = world.paid();
  const std::string before = world.funds();
  const std::string path = "/v1/payments/" + id + "/reversals/validate";
  const Json body{{"transactionId", "v"}, {"reason", "Test"}};
  CHECK(world.me.post(path, body).json().at("valid") == true);
  Json more = body;
  more["amount"] = "41";
  CHECK(world.me.post(path, more).slug() == "reversal-exceeds-payment");
  CHECK(world.funds() == before);
  CHECK(world.me.status(id) == "succeeded");
  CHECK(world.reverse(id, {{"transactionId", "v"}}).status == 202);
}

TEST_CASE("only available funds of the recipient can be reversed") {
  World world;
  const std::string id = world.paid();
  const std::string spent = world.me.transfer(world.to, world.from, "30");  // held, not settled
  CHECK(world.reverse(id, {{"amount", "10.01"}}).slug() == "insufficient-funds");
  CHECK(world.reverse(id).slug() == "insufficient-funds");
  CHECK(world.reverse(id, {{"amount", "10"}}).status == 202);
  CHECK(world.funds() == "70.00/70.00/0.00 30.00/0.00/30.00");
  world.app.settle();
  CHECK(world.me.status(spent) == "succeeded");
  CHECK(world.reverse(id, {{"amount", "0.01"}}).slug() == "insufficient-funds");
  // A reversal is not a payment, so it cannot be reversed; the payment back can.
  CHECK(world.reverse(spent).status == 202);
}

TEST_CASE("a reversal is checked like a payment") {
  World world;
  const std::string id = world.paid();
  const std::string processing = world.me.transfer(world.from, world.to, "1");
  const Names names{{"id", id}, {"processing", processing}};
  const std::string path = "/v1/payments/$id/reversals";
  run_scenarios(
      world.me,
      {{"missing members", path, "{}", 400, "malformed-request", {"transactionId", "reason"}},
       {"blank reason", path, R"({"transactionId":"$new","reason":" "})", 400, "", {"reason"}},
       {"bad ID", path, R"({"transactionId":"a b","reason":"r"})", 400, "", {"transactionId"}},
       {"unknown member",
        path,
        R"({"transactionId":"$new","reason":"r","memo":"m"})",
        400,
        "",
        {"memo"}},
       {"zero",
        path,
        R"({"transactionId":"$new","reason":"r","amount":"0"})",
        422,
        "amount-out-of-range",
        {"amount"}},
       {"too precise",
        path,
        R"({"transactionId":"$new","reason":"r","amount":"0.00000001"})",
        422,
        "amount-precision",
        {"amount"}},
       {"too much",
        path,
        R"({"transactionId":"$new","reason":"r","amount":"41"})",
        422,
        "reversal-exceeds-payment",
        {"amount"}},
       {"unknown payment", "/v1/payments/0198f3a1-5b10-7c3e-8a54-6d1f2b7c9e01/reversals",
        R"({"transactionId":"$new","reason":"r"})", 404, "not-found"},
       {"not an ID", "/v1/payments/nonsense/reversals", R"({"transactionId":"$new","reason":"r"})",
        404, "not-found"},
       {"in progress", "/v1/payments/$processing/reversals",
        R"({"transactionId":"$new","reason":"r"})", 409, "conflict"}},
      names);
  const Client stranger = world.app.stranger();
  const Json body{{"transactionId", "s"}, {"reason", "r"}};
  CHECK(stranger.post("/v1/payments/" + id + "/reversals", body).status == 404);
  CHECK(world.app.production().post("/v1/payments/" + id + "/reversals", body).status == 404);
  CHECK(
      world.me.scoped("transactions:read").post("/v1/payments/" + id + "/reversals", body).slug() ==
      "insufficient-scope");
  world.app.change_status(world.app.association(), AssociationStatus::suspended);
  CHECK(world.reverse(id).slug() == "association-suspended");
  world.app.change_status(world.app.association(), AssociationStatus::active);
  world.app.settle();
}

TEST_CASE("wallets that are under review again cannot be reversed to or from") {
  World world;
  const std::string third = world.me.third_party_wallet("USDC");
  const std::string verified = "/v1/sandbox/wallets/" + third + "/verify";
  REQUIRE(world.me.post(verified, Json::object()).status == 200);
  const std::string id = world.me.transfer(world.from, third, "10");
  world.app.settle();
  REQUIRE(world.me.status(id) == "succeeded");
  REQUIRE(world.me.put("/v1/wallets/" + third, {{"metadata", person("Njeri")}}).status == 200);
  CHECK(world.reverse(id).slug() == "wallet-not-verified");
  REQUIRE(world.me.post(verified, Json::object()).status == 200);
  CHECK(world.reverse(id).status == 202);
  CHECK(world.me.funds(world.from, "USDC") == "100.00/100.00/0.00");
}

TEST_CASE("types that an integrator cannot reverse say what to do instead") {
  World world;
  world.app.rate("USDC", "EURC", "0.9");
  world.app.liquidity("EURC", "1000");
  world.me.trustline(world.to, "EURC");
  const std::string swap =
      world.me.pay("/v1/payments/swap/own", swap_body(world.from, world.to, "10", "USDC", "EURC"));
  const std::string multi = world.me.pay("/v1/payments/p2p/own/multi",
                                         multi_body({transfer_body(world.from, world.to, "1")}));
  const std::string connector = add_connector(world.app);
  const std::string recipient = add_recipient(world.me);
  const std::string payout = world.me.pay(
      "/v1/payments/offramp",
      cash_out_body(quote_for(world.me, connector, recipient, "10"), world.from, recipient));
  for (int i = 0; i < 8; ++i) {
    world.app.clock.advance_ms(1'000);
    world.app.settle();
  }
  for (const std::string& id : {swap, multi, payout}) {
    REQUIRE(world.me.status(id) == "succeeded");
  }
  const std::string before = world.funds();
  CHECK(world.reverse(swap).slug() == "forbidden");
  CHECK(world.reverse(multi).slug() == "validation-failed");
  CHECK(world.reverse(payout).slug() == "validation-failed");
  CHECK(world.funds() == before);
  // The operator can reverse a swap as a whole, and credit a payout in parts.
  CHECK(world.by_operator(multi) == "validation-failed");
  CHECK(world.by_operator(swap, "5") == "validation-failed");
  world.app.rate("USDC", "EURC", "0.1");
  CHECK(world.by_operator(swap) == "done");
  CHECK(world.by_operator(swap) == "reversal-exceeds-payment");
  CHECK(world.me.balance(world.to, "EURC") == "0.00");
  CHECK(world.me.status(swap) == "refunded");
  const std::string with_swap = world.me.balance(world.from, "USDC");
  CHECK(world.by_operator(payout, "4") == "done");
  CHECK(world.by_operator(payout, "6.01") == "reversal-exceeds-payment");
  CHECK(world.by_operator(payout) == "done");
  CHECK(world.me.record(payout).at("refund").at("amount") == "10.00");
}

TEST_CASE("only the operator takes money back from another association") {
  World world;
  const Client stranger = world.app.stranger();
  const std::string theirs = stranger.wallet("USDC");
  const std::string address = stranger.get("/v1/wallets/" + theirs).json().at("publicKey");
  const auto pay = [&](const std::string& recipient) {
    const std::string id =
        world.me.pay("/v1/payments/p2p/beneficiary", {{"transactionId", fresh_transaction_id()},
                                                      {"sourceWalletId", world.from},
                                                      {"beneficiaryId", recipient},
                                                      {"sendingAssetCode", "USDC"},
                                                      {"amount", "10"}});
    world.app.settle();
    REQUIRE(world.me.status(id) == "succeeded");
    return id;
  };
  const std::string away = pay(add_ledger_recipient(world.me, address));
  const std::string own = pay(add_ledger_recipient(world.me, world.address(world.to)));
  CHECK(world.reverse(own).status == 202);
  CHECK(world.funds() == "90.00/90.00/0.00 0.00/0.00/0.00");
  CHECK(world.reverse(away).slug() == "forbidden");
  CHECK(stranger.balance(theirs, "USDC") == "10.00");
  CHECK(world.by_operator(away, "3") == "done");
  CHECK(stranger.balance(theirs, "USDC") == "7.00");
  CHECK(world.me.balance(world.from, "USDC") == "93.00");
}

TEST_CASE("a verification in rounds reads a payment again that was reversed since, and no other") {
  World world;
  std::vector<std::string> paid;
  for (int i = 0; i < 300; ++i) paid.push_back(world.me.transfer(world.from, world.to, "0.1"));
  while (world.app.settle() > 0) {
  }
  store::Verification verification;
  const auto round = [&] {
    std::int64_t rows = 0;
    for (bool over = false; !over;) {
      const auto slice =
          store::with_reader(world.app.core().database(), [&](store::Connection& db) {
            return verification.slice(db, 1'000, 60'000);
          }).value();
      rows += slice.rows;
      over = slice.round_over;
    }
    CHECK(verification.violations().empty());
    return rows;
  };
  const std::int64_t all = round(), few = round();
  REQUIRE(few < all / 3);
  CHECK(world.reverse(paid.front()).status == 202);
  CHECK(world.reverse(paid[200]).status == 202);
  CHECK(round() < few + all / 4);
  CHECK(round() < few + all / 10);
}

TEST_CASE("an operator's repeated reversal changes nothing") {
  World world;
  const std::string id = world.paid();
  const flows::Reversal reversal{*PaymentId::parse(id), "op-1", test::amount("5"), "Agreed"};
  for (int i = 0; i < 3; ++i) {
    const auto done = flows::reverse_for_operator(world.app.flows(), reversal);
    REQUIRE(done);
    CHECK(done->replayed == (i > 0));
  }
  CHECK(world.funds() == "65.00/65.00/0.00 35.00/35.00/0.00");
  CHECK(world.reverse(id, {{"transactionId", "op-1"}}).slug() == "transaction-id-conflict");
}

}  // namespace reversals_test
