// The capacity of the ledger for an asset, 922,337,203,685.4775807. A credit beyond it is rejected,
// or fails with its reason, and is never retried endlessly.
#include <catch2/catch.hpp>

#include "flows/settlement/resolve_payment.h"
#include "store/ledger/catalog.h"
#include "store/ledger/journal.h"
#include "support/connectors.h"
#include "support/recipients.h"
#include "support/test_app.h"

using namespace coffer;
using namespace coffer::test;

namespace ledger_limit_test {
namespace {

const std::string kAll = "922337203685.4775807";

struct World {
  TestApp app;
  const Client& me = app.me();
  std::string full = app.wallet("USDC", kAll);
  std::string other = app.wallet("USDC");

  Json settled(const std::string& id, int ms = 2'000) {
    app.settle();
    for (int passed = 0; passed < ms; passed += 250) {
      app.clock.advance_ms(250);
      app.settle();
    }
    return me.record(id);
  }
  /// The provider of this connector is paid, or pays, outside of coffer: value leaves the ledger or
  /// enters it through the clearing account.
  void move_to_issuance(const std::string& connector, const char* units) {
    app.core()
        .queue()
        .run([&](store::WriteTx& tx) -> Result<void> {
          const auto asset = store::find_asset(tx.db(), *AssetCode::parse("USDC"));
          const auto row =
              store::find_connector(tx.db(), Environment::sandbox, *ConnectorId::parse(connector));
          const store::Movement movement{
              {store::operator_account(tx, Environment::sandbox, AccountKind::clearing, asset->key,
                                       row->terms.key),
               store::operator_account(tx, Environment::sandbox, AccountKind::issuance, asset->key),
               amount(units)},
              0};
          store::post(tx, store::operator_tenant(Environment::sandbox),
                      store::JournalKind::liquidity, {&movement, 1});
          return {};
        })
        .value();
  }
};

void check_failed(const Json& record) {
  CHECK(record.at("status") == "failed");
  CHECK(record.at("statusReason").at("code") == "ledger_limit_exceeded");
  CHECK_FALSE(record.at("statusReason").at("message").get<std::string>().empty());
}

}  // namespace

TEST_CASE("an asset is issued only up to the capacity of the ledger") {
  World world;
  const Reply reply = world.me.post("/v1/sandbox/wallets/" + world.other + "/fund",
                                    {{"assetCode", "USDC"}, {"amount", "0.0000001"}});
  CHECK(reply.status == 422);
  CHECK(reply.json().at("code") == "amount_out_of_range");
  CHECK(reply.json().at("errors").at(0).at("field") == "amount");
}

TEST_CASE("the whole amount of an asset can be transferred and swapped") {
  World world;
  const std::string id = world.me.transfer(world.full, world.other, kAll);
  CHECK(world.settled(id).at("status") == "succeeded");
  CHECK(world.me.balance(world.other, "USDC") == kAll);
  const std::string back = world.me.transfer(world.other, world.full, kAll);
  CHECK(world.settled(back).at("status") == "succeeded");
}

TEST_CASE("an on-ramp that the ledger cannot hold fails, for every wallet") {
  World world;
  const std::string connector = add_connector(world.app, collection_connector());
  for (const std::string& wallet : {world.full, world.other}) {
    const std::string id = world.me.pay(
        "/v1/payments/onramp", collection_body(collection_quote(world.me, connector), wallet));
    check_failed(world.settled(id));
  }
  CHECK(world.me.balance(world.full, "USDC") == kAll);
  CHECK(world.me.balance(world.other, "USDC") == "0.00");
  CHECK(world.app.log().find("it will be retried") == std::string::npos);
  CHECK(world.app.log().find("exceeds the limit of the ledger") != std::string::npos);
}

TEST_CASE("a payment on a reference that the ledger cannot hold fails") {
  World world;
  flows::NewConnector bespoke = collection_connector();
  bespoke.terms.flow = ConnectorFlow::bespoke;
  bespoke.terms.issues_references = true;
  const std::string connector = add_connector(world.app, bespoke);
  const std::string account = world.me.get("/v1/wallets/" + world.full).json().at("publicKey");
  const Reply issued = world.me.post(
      "/v1/onramp/references",
      {{"connectorId", connector}, {"settlementAccount", account}, {"customerId", "customer-1"}});
  REQUIRE(issued.status == 201);
  const std::string reference = issued.json().at("reference");
  const Reply paid =
      world.me.post("/v1/sandbox/references/" + reference + "/pay", {{"amount", "10000"}});
  REQUIRE(paid.status == 202);
  check_failed(world.settled(paid.json().at("transactionRecordId")));
  CHECK(world.app.log().find("it will be retried") == std::string::npos);
}

TEST_CASE("an operator gets the reason why an on-ramp cannot be resolved as succeeded") {
  World world;
  const std::string connector = add_connector(world.app, collection_connector());
  const std::string id =
      world.me.pay("/v1/payments/onramp",
                   collection_body(collection_quote(world.me, connector), world.other, "1201"));
  CHECK(world.settled(id).at("status") == "processing");
  const auto resolved = flows::resolve_payment(world.app.flows(), *PaymentId::parse(id),
                                               {flows::Resolution::succeeded, "ada", "paid"});
  REQUIRE_FALSE(resolved);
  CHECK(resolved.error().slug == Slug::conflict);
  CHECK(resolved.error().detail.find("exceed the ledger's limit") != std::string::npos);
  CHECK(world.me.status(id) == "processing");
}

TEST_CASE("a refund that the ledger cannot hold fails with its reason, and can be credited later") {
  World world;
  const std::string connector = add_connector(world.app);
  const std::string beneficiary = add_recipient(world.me, "1201");  // stays with the provider
  const std::string id = world.me.pay(
      "/v1/payments/offramp",
      cash_out_body(quote_for(world.me, connector, beneficiary), world.full, beneficiary));
  CHECK(world.settled(id).at("status") == "processing");
  // Coffer pays its debt to the provider, and the same amount comes into circulation again.
  world.move_to_issuance(connector, "100");
  world.me.fund(world.other, "USDC", "100");

  const Json record =
      world.me.send({"POST", "/v1/sandbox/transactions/" + id + "/fail", {}, {}}).json();
  CHECK(record.at("status") == "refund_failed");
  CHECK(record.at("refund").at("status") == "failed");
  const Json last = record.at("statusHistory").back();
  CHECK(last.at("status") == "refund_failed");
  CHECK(last.at("code") == "ledger_limit_exceeded");
  CHECK_FALSE(last.at("message").get<std::string>().empty());
  CHECK(world.app.log().find("exceeds the limit of the ledger") != std::string::npos);

  const flows::ManualResult refunded{flows::Resolution::refunded, "ada",
                                     "the provider paid it back"};
  const auto rejected = flows::resolve_payment(world.app.flows(), *PaymentId::parse(id), refunded);
  REQUIRE_FALSE(rejected);
  CHECK(rejected.error().detail.find("exceed the ledger's limit") != std::string::npos);

  // Another off-ramp frees capacity when its provider is paid.
  const std::string recipient = add_recipient(world.me);
  const std::string paid =
      world.me.pay("/v1/payments/offramp",
                   cash_out_body(quote_for(world.me, connector, recipient), world.full, recipient));
  CHECK(world.settled(paid).at("status") == "succeeded");
  world.move_to_issuance(connector, "100");
  REQUIRE(flows::resolve_payment(world.app.flows(), *PaymentId::parse(id), refunded));
  CHECK(world.me.status(id) == "refunded");
}

}  // namespace ledger_limit_test
