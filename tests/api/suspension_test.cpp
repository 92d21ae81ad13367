// A committed suspension rejects requests that are queued after it.
#include <catch2/catch.hpp>

#include "base/thread.h"
#include "flows/providers/connector_changes.h"
#include "support/connectors.h"
#include "support/recipients.h"
#include "support/test_app.h"
#include "unit/store/busy_writer.h"

using namespace coffer;
using namespace coffer::test;
using coffer::store::test::BusyWriter;

namespace {

/// The result of `send` if it passes every check before the queue and waits there after `first`.
Reply behind(TestApp& app, const std::function<void()>& first, const std::function<Reply()>& send) {
  Reply reply;
  BusyWriter busy(app.core().queue());
  Thread before("before", first);
  busy.gathered(1);
  Thread after("after", [&] { reply = send(); });
  busy.gathered(2);
  busy.open();
  before.join();
  after.join();
  return reply;
}

}  // namespace

TEST_CASE("a payment that is queued after a suspension is rejected, and nothing of it is stored") {
  TestApp app;
  const std::string from = app.wallet("USDC", "10"), to = app.wallet("USDC");
  const Json body = transfer_body(from, to, "1");
  const auto change = [&](AssociationStatus to_status) {
    return [&app, to_status] { app.change_status(app.association(), to_status); };
  };
  const auto pay = [&] { return app.me().post("/v1/payments/p2p/own", body); };
  REQUIRE(pay().status == 202);  // the status is known to the writer
  const Json other = transfer_body(from, to, "2");
  const Reply rejected = behind(app, change(AssociationStatus::suspended),
                                [&] { return app.me().post("/v1/payments/p2p/own", other); });
  CHECK(rejected.status == 403);
  CHECK(rejected.slug() == "association-suspended");
  CHECK(app.me().funds(from, "USDC") == "10.00/9.00/1.00");
  // Payments accepted earlier finish, and the rejected ID can be used again after the suspension.
  CHECK(app.settle() == 1);
  CHECK(pay().json().at("isIdempotent") == true);
  CHECK(app.me().post("/v1/payments/p2p/own", other).slug() == "association-suspended");
  change(AssociationStatus::active)();
  CHECK(app.me().post("/v1/payments/p2p/own", other).status == 202);
}

TEST_CASE("a payment that is queued before a suspension is accepted and finishes") {
  TestApp app;
  const std::string from = app.wallet("USDC", "10"), to = app.wallet("USDC");
  Reply accepted;
  behind(
      app, [&] { accepted = app.me().post("/v1/payments/p2p/own", transfer_body(from, to, "1")); },
      [&] {
        app.change_status(app.association(), AssociationStatus::suspended);
        return Reply();
      });
  CHECK(accepted.status == 202);
  CHECK(app.settle() == 1);
}

TEST_CASE("payouts and reference registrations that are queued after a suspension are rejected") {
  TestApp app;
  const std::string wallet = app.wallet("USDC", "1000"),
                    beneficiary = add_recipient(app.me(), "5678");
  const Json quote = quote_for(app.me(), add_connector(app), beneficiary);
  const auto suspend = [&] { app.change_status(app.association(), AssociationStatus::suspended); };
  const Reply rejected = behind(app, suspend, [&] {
    return app.me().post("/v1/payments/offramp", cash_out_body(quote, wallet, beneficiary));
  });
  CHECK(rejected.slug() == "association-suspended");
  app.change_status(app.association(), AssociationStatus::active);
  CHECK(app.me().get("/v1/quotes/" + quote.at("quoteId").get<std::string>()).json().at("status") ==
        "OPEN");

  auto bespoke = collection_connector();
  bespoke.terms.flow = ConnectorFlow::bespoke;
  bespoke.terms.issues_references = true;
  const Json registration{
      {"connectorId", add_connector(app, bespoke)},
      {"settlementAccount", app.me().get("/v1/wallets/" + wallet).json().at("publicKey")},
      {"customerId", "customer-1"}};
  const Reply reference =
      behind(app, suspend, [&] { return app.me().post("/v1/onramp/references", registration); });
  CHECK(reference.slug() == "association-suspended");
  CHECK(app.me().all("/v1/onramp/references").empty());
}

TEST_CASE("an undone change of status does not affect later payments") {
  TestApp app;
  const std::string from = app.wallet("USDC", "10"), to = app.wallet("USDC");
  const Reply reply = behind(
      app,
      [&] {
        // A payment of the same batch sees the suspension, which is then undone.
        const auto undone = app.core().queue().run([&](store::WriteTx& tx) -> Result<void> {
          store::set_association_status(tx, app.association(), AssociationStatus::suspended);
          const auto tenant =
              store::find_tenant(tx.db(), app.association(), Environment::sandbox).value();
          CHECK(tx.association_status(tenant) == AssociationStatus::suspended);
          return unexpected(Slug::conflict, "never");
        });
        CHECK_FALSE(undone);
      },
      [&] { return app.me().post("/v1/payments/p2p/own", transfer_body(from, to, "1")); });
  CHECK(reply.status == 202);
}
