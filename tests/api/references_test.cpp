// On-ramp references: registration with all its errors, lists, and payments on them.
#include <catch2/catch.hpp>

#include "support/connectors.h"
#include "support/scenario.h"
#include "support/test_app.h"
#include "support/unguarded.h"

using namespace coffer;
using namespace coffer::test;

namespace references_test {
namespace {

const std::string kReferences = "/v1/onramp/references";

flows::NewConnector bespoke_connector() {
  flows::NewConnector connector = collection_connector();
  connector.terms.name = "Virtual accounts";
  connector.terms.flow = ConnectorFlow::bespoke;
  connector.terms.issues_references = true;
  return connector;
}

std::string lower(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

struct World {
  TestApp app;
  const Client& me = app.me();
  std::string wallet = app.wallet("USDC");
  std::string account = me.get("/v1/wallets/" + wallet).json().at("publicKey");
  std::string connector = add_connector(app, bespoke_connector());

  Json body(const std::string& customer) const {
    return {{"connectorId", connector}, {"settlementAccount", account}, {"customerId", customer}};
  }
  Json registered(const std::string& customer) const {
    const Reply reply = me.post(kReferences, body(customer));
    INFO(reply.text());
    REQUIRE(reply.status == 201);
    return reply.json();
  }
  Reply pay(const std::string& reference, const char* amount, const char* payment = nullptr) const {
    Json json{{"amount", amount}};
    if (payment != nullptr) json["providerPaymentId"] = payment;
    return me.post("/v1/sandbox/references/" + reference + "/pay", json);
  }
};

}  // namespace

TEST_CASE("a registered reference contains its connector and payment instructions") {
  World world;
  const Json reference = world.registered("customer-1");
  CHECK_FALSE(reference.at("reference").get<std::string>().empty());
  CHECK(reference.at("routeId") == world.connector);
  CHECK(reference.at("metadata").is_object());
  CHECK(reference.at("relatedReferences").is_null());
  CHECK(world.me.all(kReferences).size() == 1);
  CHECK(world.me.all(kReferences + "?customerId=customer-1&connectorId=" + world.connector).at(0) ==
        reference);
  CHECK(world.me.all(kReferences + "?customerId=customer-2").empty());
  CHECK(world.app.stranger().all(kReferences).empty());
}

TEST_CASE("a rebind has no metadata, and related references have their own") {
  World world;
  CHECK(world.registered("c-2001").at("metadata").is_null());
  const Json related = world.registered("c-2004").at("relatedReferences");
  REQUIRE(related.size() == 2);
  CHECK(related[0].at("metadata").is_object());
  CHECK(world.pay(related[1].at("reference"), "1000").status == 202);
}

TEST_CASE("payment instructions that another program changed stay hidden") {
  World world;
  world.registered("customer-1");
  world.registered("c-2004");
  store::Connection db(world.app.core().database().path(), store::OpenMode::read_write);
  const std::vector<std::pair<const char*, const char*>> changes{
      {"UPDATE onramp_reference_metadata SET value = value || ' forged'",
       "UPDATE onramp_reference_metadata SET value = replace(value, ' forged', '')"},
      {"INSERT INTO onramp_reference_metadata SELECT onramp_reference, 'forged', 'x'"
       " FROM onramp_references WHERE has_metadata",
       "DELETE FROM onramp_reference_metadata WHERE name = 'forged'"},
      {"UPDATE onramp_references SET reference = reference || ' forged'"
       " WHERE related_to IS NOT NULL",
       "UPDATE onramp_references SET reference = replace(reference, ' forged', '')"},
  };
  for (const auto& [forge, repair] : changes) {
    INFO(forge);
    change_unguarded(db, forge);
    const Reply reply = world.me.get(kReferences);
    CHECK(reply.status == 502);
    CHECK(reply.text().find("forged") == std::string::npos);
    change_unguarded(db, repair);
    CHECK(world.me.all(kReferences).size() == 2);
  }
}

TEST_CASE("a registration is rejected as the contract requires") {
  World world;
  const Client other = world.app.stranger();
  const std::string foreign =
      other.get("/v1/wallets/" + other.wallet("USDC")).json().at("publicKey");
  const std::string eurc =
      world.me.get("/v1/wallets/" + world.app.wallet("EURC")).json().at("publicKey");
  const std::string plain = add_connector(world.app, collection_connector());
  const std::string paused = add_connector(world.app, bespoke_connector());
  pause_connector(world.app, paused);
  world.registered("taken");
  const auto row = [&](const char* name, const std::string& patch, int status, const char* slug,
                       std::vector<std::string> fields) {
    Json json = world.body("fresh");
    json.merge_patch(Json::parse(patch));
    return Scenario{name, kReferences, json.dump(), status, slug, std::move(fields)};
  };
  const auto with = [](const char* name, const std::string& value) {
    return Json{{name, value}}.dump();
  };
  run_scenarios(
      world.me,
      {row("malformed account", with("settlementAccount", "nonsense"), 404, "not-found",
           {"settlementAccount"}),
       row("empty account", with("settlementAccount", ""), 404, "not-found", {"settlementAccount"}),
       row("blank account", with("settlementAccount", "  "), 404, "not-found",
           {"settlementAccount"}),
       row("endless account", with("settlementAccount", std::string(4'000, 'G')), 404, "not-found",
           {"settlementAccount"}),
       row("account with a wrong checksum",
           with("settlementAccount",
                world.account.substr(0, 55) + (world.account[55] == 'A' ? "B" : "A")),
           404, "not-found", {"settlementAccount"}),
       row("account in lower case", with("settlementAccount", lower(world.account)), 404,
           "not-found", {"settlementAccount"}),
       row("no account", R"({"settlementAccount":null})", 400, "malformed-request",
           {"settlementAccount"}),
       row("account of another type", R"({"settlementAccount":7})", 400, "malformed-request",
           {"settlementAccount"}),
       row("foreign account", with("settlementAccount", foreign), 404, "not-found",
           {"settlementAccount"}),
       row("unknown connector", with("connectorId", "01890000-0000-7000-8000-000000000000"), 404,
           "not-found", {"connectorId"}),
       row("connector that is no id", with("connectorId", "x"), 404, "not-found", {"connectorId"}),
       row("customer the provider does not know", with("customerId", "c-2002"), 404, "not-found",
           {"customerId"}),
       row("taken", with("customerId", "taken"), 409, "references-exist", {"customerId"}),
       row("provider cannot assign", with("customerId", "c-2003"), 409, "conflict", {}),
       row("paused", with("connectorId", paused), 409, "conflict", {"connectorId"}),
       row("no trustline", with("settlementAccount", eurc), 422, "trustline-missing",
           {"settlementAccount"}),
       row("connector without references", with("connectorId", plain), 422, "validation-failed",
           {"connectorId"}),
       row("no customer", R"({"customerId":null})", 400, "malformed-request", {"customerId"}),
       row("unknown field", R"({"idempotencyKey":"x"})", 400, "malformed-request",
           {"idempotencyKey"}),
       row("provider late", with("customerId", "c-1401"), 504, "provider-timeout", {}),
       row("provider broken", with("customerId", "c-1402"), 502, "provider-error", {})});
  CHECK(world.me.all(kReferences).size() == 1);
}

TEST_CASE("a customer's payment on a reference credits the wallet once") {
  World world;
  const std::string reference = world.registered("customer-1").at("reference");
  const Reply paid = world.pay(reference, "10000", "pp-1");
  INFO(paid.text());
  REQUIRE(paid.status == 202);
  const std::string id = paid.json().at("transactionRecordId");
  const Reply again = world.pay(reference, "10000", "pp-1");
  CHECK(again.json().at("isIdempotent") == true);
  CHECK(again.json().at("transactionRecordId") == id);
  CHECK(world.pay(reference, "9999", "pp-1").status == 409);
  world.app.settle();
  const Json record = world.me.record(id);
  CHECK(record.at("type") == "onramp_reference");
  CHECK(record.at("status") == "succeeded");
  CHECK(record.at("sendingAmount") == "10000.00");
  CHECK(record.at("fee") == "110.00");
  CHECK(record.at("receivingAmount") == "74.175");
  CHECK(record.at("destinationWalletId") == world.wallet);
  CHECK(world.me.balance(world.wallet, "USDC") == "74.175");
  // A second payment of the same amount counts separately.
  CHECK(world.pay(reference, "10000").json().at("isIdempotent") == false);
  world.app.settle();
  CHECK(world.me.balance(world.wallet, "USDC") == "148.35");
}

TEST_CASE("only the owner's references can be paid in the sandbox, with a valid amount") {
  World world;
  const std::string reference = world.registered("customer-1").at("reference");
  const Client other = world.app.stranger();
  const std::string route = "/v1/sandbox/references/" + reference + "/pay";
  CHECK(other.post(route, {{"amount", "1000"}}).status == 404);
  CHECK(world.app.production().post(route, {{"amount", "1000"}}).status == 404);
  CHECK(world.pay("REFnothing", "1000").status == 404);
  CHECK(world.pay(reference, "0").slug() == "amount-out-of-range");
  CHECK(world.pay(reference, "0.00000001").slug() == "amount-precision");
  for (const char* blank : {"", " ", "\u3000", "\u0301"}) {
    const Reply reply = world.me.post(route, {{"amount", "1000"}, {"payerName", blank}});
    CHECK(reply.status == 400);
    CHECK(reply.fields() == std::vector<std::string>{"payerName"});
  }
  // What a customer may really do ends as in production.
  const auto failure = [&](const Json& payment) {
    const Reply reply = world.me.post(route, payment);
    INFO(reply.text());
    REQUIRE(reply.status == 202);
    return world.me.record(reply.json().at("transactionRecordId")).at("statusReason").at("code");
  };
  CHECK(failure({{"amount", "5"}}) == "underpaid");
  CHECK(failure({{"amount", "1000.001"}}) == "amount_precision");
  CHECK(failure({{"amount", "1000"}, {"currencyIsoCode3", "EUR"}}) == "wrong_currency");
}

TEST_CASE("a planted record of a customer payment does not swallow a real one") {
  World world;
  const std::string reference = world.registered("customer-1").at("reference");
  const std::string other = world.app.wallet("USDC", "5");
  world.me.transfer(other, world.wallet, "1");
  store::Connection db(world.app.core().database().path(), store::OpenMode::read_write);
  change_unguarded(db,
                   "INSERT INTO reference_payments SELECT connector, 'p-1', onramp_reference,"
                   " (SELECT max(payment) FROM payments) FROM onramp_references");
  CHECK(world.pay(reference, "1000", "p-1").status == 502);
  change_unguarded(db, "DELETE FROM reference_payments WHERE provider_payment_id = 'p-1'");
  CHECK(world.pay(reference, "1000", "p-1").status == 202);
}

}  // namespace references_test
