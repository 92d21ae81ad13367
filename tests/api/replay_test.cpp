// transactionId identifies a payment: which requests count as equal, and which use it up.
#include <catch2/catch.hpp>
#include <functional>
#include <set>

#include "domain/providers/quote.h"
#include "flows/identity/quotas.h"
#include "route_samples.h"
#include "support/armed_fault.h"
#include "support/test_app.h"

using namespace coffer;
using namespace coffer::test;

namespace replay_test {
namespace {

const std::string kTransfer = "/v1/payments/p2p/own";

struct World {
  TestApp app;
  std::string from = app.wallet("USDC", "100");
  std::string to = app.wallet("USDC");
  Json body = transfer_body(from, to, "1");
};

/// The first response of the routes that submit a payment.
const std::set<std::string_view> kReplayed = {"Acknowledgement", "CashInResult"};

/// Passes a new request to `use` for each route whose first response has one of the schemas.
/// Returns the number of routes.
int call_each_route(TestApp& app, const std::set<std::string_view>& schemas,
                    const std::function<void(std::string_view, const HttpCall&)>& use) {
  app.rate("USDC", "EURC", "0.9");
  const Names mine = belongings_of(app, app.me());
  int routes = 0;
  for (const api::Route& route : api::routes()) {
    const std::string_view schema = route.responses.front().schema;
    if (!schemas.contains(schema)) continue;
    INFO(route.operation);
    Names names = mine;
    add_fresh_payment_samples(app, app.me(), names, sample_of(route));
    use(schema, sample_of(route).call(names));
    ++routes;
  }
  return routes;
}

void check_replay(const Reply& reply, const std::string& id) {
  INFO(reply.text());
  CHECK(reply.status == 202);
  CHECK(reply.header("Idempotent-Replayed") == "true");
  CHECK(reply.json().at("isIdempotent") == true);
  CHECK(reply.json().at("transactionRecordId") == id);
  CHECK(reply.json().at("status") == "accepted");
}

void check_conflict(const Reply& reply, const std::vector<std::string>& fields) {
  INFO(reply.text());
  CHECK(reply.status == 409);
  CHECK(reply.slug() == "transaction-id-conflict");
  CHECK(reply.fields() == fields);
}

}  // namespace

TEST_CASE("a repeated submission returns the first result, before and after settlement") {
  World world;
  const Client& me = world.app.me();
  const std::string id = me.pay(kTransfer, world.body);
  check_replay(me.post(kTransfer, world.body), id);
  world.app.settle();
  check_replay(me.post(kTransfer, world.body), id);
  world.app.restart();
  world.app.clock.advance_ms(3'000'000);
  check_replay(me.post(kTransfer, world.body), id);
  CHECK(me.all("/v1/transactions").size() == 1);
  CHECK(me.balance(world.to, "USDC") == "1.00");
}

TEST_CASE("a replay returns the first acknowledgement, with a different isIdempotent") {
  TestApp app;
  const int routes = call_each_route(app, kReplayed, [&](std::string_view, const HttpCall& call) {
    Json first = app.me().send(call).json(), again = app.me().send(call).json();
    CHECK(first.at("isIdempotent") == false);
    CHECK(again.at("isIdempotent") == true);
    first.erase("isIdempotent");
    again.erase("isIdempotent");
    CHECK(first == again);
  });
  CHECK(routes == 11);
}

TEST_CASE("a replay returns the first result whatever has changed since") {
  TestApp app;
  const auto limit_bytes = [&](std::optional<std::int64_t> maximum) {
    flows::set_quota(app.flows(), app.association(), Environment::sandbox, Quota::file_bytes,
                     maximum)
        .value();
  };
  const int routes = call_each_route(app, kReplayed, [&](std::string_view, const HttpCall& call) {
    if (call.target.starts_with("/v1/sandbox/")) return;  // not a submission
    const std::string id = app.me().send(call).json().at("transactionRecordId");
    HttpCall unsent = call;
    Json body = Json::parse(call.body);
    body["transactionId"] = "never-sent";
    unsent.body = body.dump();
    const auto replayed = [&] { check_replay(app.me().send(call), id); };
    app.clock.advance_ms(kQuoteLifetimeMs + 1'000);  // its quote has expired
    replayed();
    limit_bytes(0);
    replayed();
    app.change_status(app.association(), AssociationStatus::suspended);
    replayed();
    CHECK(app.me().send(unsent).slug() == "association-suspended");
    if (call.target.find("cashin") == std::string::npos) {
      HttpCall check = call;
      check.target += "/validate";
      CHECK(app.me().send(check).json() == Json{{"valid", true}});
    }
    app.change_status(app.association(), AssociationStatus::active);
    limit_bytes(std::nullopt);
    if (!body.contains("beneficiaryId")) return;
    const std::string beneficiary = body.at("beneficiaryId");
    REQUIRE(app.me().send({"DELETE", "/v1/beneficiaries/" + beneficiary, {}, {}}).status < 300);
    replayed();
  });
  CHECK(routes == 11);
}

TEST_CASE("a full disk rejects neither repeated submissions nor validations") {
  TestApp app;
  std::set<std::string_view> schemas = kReplayed;
  schemas.insert("Validation");
  const int routes =
      call_each_route(app, schemas, [&](std::string_view schema, const HttpCall& call) {
        const bool submits = schema != "Validation";
        const Json first = submits ? app.me().send(call).json() : Json();
        app.clock.advance_ms(1'000);
        {
          const ArmedFault fault("disk.full:0=fail");
          const Reply reply = app.me().send(call);
          INFO(reply.text());
          CHECK(reply.status == (submits ? 202 : 200));
          if (submits) {
            CHECK(reply.json().at("isIdempotent") == true);
            CHECK(reply.json().at("transactionRecordId") == first.at("transactionRecordId"));
          }
          CHECK_FALSE(app.core().queue().probe());
        }
        CHECK(app.core().queue().probe());
      });
  CHECK(routes == 20);
}

TEST_CASE("on a full disk, a conflict is still reported, and a new payment is not stored") {
  World world;
  const Client& me = world.app.me();
  const std::string id = me.pay(kTransfer, world.body);
  Json other = world.body;
  other["amount"] = "2";
  const Json unsent = transfer_body(world.from, world.to, "1");
  world.app.clock.advance_ms(1'000);
  {
    const ArmedFault fault("disk.full:0=fail");
    CHECK(me.post(kTransfer, unsent).slug() == "storage-full");
    check_conflict(me.post(kTransfer, other), {"amount"});
    check_replay(me.post(kTransfer, world.body), id);
    CHECK(me.post(kTransfer + "/validate", unsent).json() == Json{{"valid", true}});
    CHECK(me.post(kTransfer, unsent).slug() == "storage-full");
    CHECK(me.all("/v1/transactions").size() == 1);
  }
  CHECK(me.post(kTransfer, unsent).status == 202);
  CHECK(me.funds(world.from, "USDC") == "100.00/98.00/2.00");
}

TEST_CASE("a replay compares canonical fields") {
  World world;
  const Client& me = world.app.me();
  const std::string id = me.pay(kTransfer, world.body);
  const std::string transaction = world.body.at("transactionId");
  const auto same = [&](const char* amount, const char* more = "") {
    // Another order of members and another notation of the amount.
    check_replay(
        me.post_text(kTransfer, "{\"amount\":" + std::string(amount) +
                                    ",\"sendingAssetCode\":\"USDC\",\"destinationWalletId\":\"" +
                                    world.to + "\",\"transactionId\":\"" + transaction +
                                    "\", \"sourceWalletId\" : \"" + world.from + "\"" + more + "}"),
        id);
  };
  same("\"1\"");
  same("1");
  same("1.0");
  same("\"1.0000000\"");
  same("0.1e1");
  same("1", R"(,"fromRef":null,"memo":null,"notifyEmail":false)");
  Json upper = world.body;
  std::string wallet = world.from;
  for (char& c : wallet) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  upper["sourceWalletId"] = wallet;
  check_replay(me.post(kTransfer, upper), id);
}

TEST_CASE("a different body with the same ID is a conflict that lists the differences") {
  World world;
  const Client& me = world.app.me();
  world.body["fromRef"] = "A-1";
  me.pay(kTransfer, world.body);
  const auto changed = [&](const char* patch) {
    Json body = world.body;
    body.merge_patch(Json::parse(patch));
    return me.post(kTransfer, body);
  };
  check_conflict(changed(R"({"amount":"1.0000001"})"), {"amount"});
  check_conflict(changed(R"({"fromRef":null})"), {"fromRef"});
  check_conflict(changed(R"({"toRef":"B","description":"x","memo":"m"})"),
                 {"toRef", "description", "memo"});
  check_conflict(changed(R"({"sendingAssetCode":"EURC"})"), {"sendingAssetCode"});
  Json swapped = world.body;
  swapped["sourceWalletId"] = world.to;
  swapped["destinationWalletId"] = world.from;
  check_conflict(me.post(kTransfer, swapped), {"sourceWalletId", "destinationWalletId"});
  // More than the balance: the conflict comes first.
  check_conflict(changed(R"({"amount":"1000"})"), {"amount"});
}

TEST_CASE("a transactionId is unique over all payment types") {
  World world;
  const Client& me = world.app.me();
  me.pay(kTransfer, world.body);
  Json multi = multi_body({transfer_body(world.from, world.to, "1")});
  multi["transactionId"] = world.body.at("transactionId");
  const Reply reply = me.post("/v1/payments/p2p/own/multi", multi);
  CHECK(reply.status == 409);
  CHECK(reply.slug() == "transaction-id-conflict");
  CHECK(me.get("/v1/transactions?transactionId=" + multi.at("transactionId").get<std::string>())
            .json()
            .at("data")
            .size() == 1);
}

TEST_CASE("a multi-transfer and a swap are replayed and compared leg by leg") {
  World world;
  const Client& me = world.app.me();
  const std::string route = "/v1/payments/p2p/own/multi";
  Json multi = multi_body(
      {transfer_body(world.from, world.to, "1"), transfer_body(world.from, world.to, "2")});
  const std::string id = me.pay(route, multi);
  check_replay(me.post(route, multi), id);
  Json other = multi;
  other["transfers"][1]["amount"] = "2.5";
  other["memo"] = "x";
  check_conflict(me.post(route, other), {"transfers[1].amount", "memo"});
  Json order = multi;
  std::swap(order["transfers"][0], order["transfers"][1]);
  check_conflict(me.post(route, order), {"transfers[0].amount", "transfers[1].amount"});
  Json fewer = multi;
  fewer["transfers"].erase(1);
  check_conflict(me.post(route, fewer), {"transfers"});

  world.app.rate("USDC", "EURC", "0.9");
  world.app.liquidity("EURC", "100");
  me.trustline(world.to, "EURC");
  Json swap = swap_body(world.from, world.to, "1", "USDC", "EURC");
  swap["minReceivingAmount"] = "0.5";
  const std::string swap_id = me.pay("/v1/payments/swap/own", swap);
  swap["minReceivingAmount"] = 0.50;
  check_replay(me.post("/v1/payments/swap/own", swap), swap_id);
  swap["minReceivingAmount"] = "0.6";
  check_conflict(me.post("/v1/payments/swap/own", swap), {"minReceivingAmount"});
}

TEST_CASE("a transactionId belongs to one association and environment") {
  World world;
  const Client& me = world.app.me();
  const std::string id = me.pay(kTransfer, world.body);
  const Client other = world.app.stranger();
  Json theirs = transfer_body(other.wallet("USDC", "5"), other.wallet("USDC"), "1");
  theirs["transactionId"] = world.body.at("transactionId");
  const std::string their_id = other.pay(kTransfer, theirs);
  CHECK(their_id != id);
  check_replay(other.post(kTransfer, theirs), their_id);
  const Client production = world.app.production();
  const std::string source = production.wallet("USDC");
  world.app.issue(source, "USDC", "5");
  Json live = transfer_body(source, production.wallet("USDC"), "1");
  live["transactionId"] = world.body.at("transactionId");
  CHECK(production.pay(kTransfer, live) != id);
  // Another application of the same tenant replays it.
  const Client sibling(world.app, world.app.register_application(world.app.association()));
  check_replay(sibling.post(kTransfer, world.body), id);
}

TEST_CASE("a rejected submission does not use up its ID") {
  World world;
  const Client& me = world.app.me();
  Json body = world.body;
  body["amount"] = "101";
  CHECK(me.post(kTransfer, body).slug() == "insufficient-funds");
  body["amount"] = "0";
  CHECK(me.post(kTransfer, body).status == 422);
  body["colour"] = "red";
  CHECK(me.post(kTransfer, body).status == 400);
  const Reply reply = me.post(kTransfer, world.body);
  CHECK(reply.status == 202);
  CHECK(reply.json().at("isIdempotent") == false);
}

TEST_CASE("a failed payment keeps its transactionId") {
  World world;
  const Client& me = world.app.me();
  world.app.rate("USDC", "EURC", "0.9");
  me.trustline(world.to, "EURC");
  const Json swap = swap_body(world.from, world.to, "1", "USDC", "EURC");
  // There is a rate but no liquidity.
  const std::string id = me.pay("/v1/payments/swap/own", swap);
  world.app.settle();
  REQUIRE(me.status(id) == "failed");
  world.app.liquidity("EURC", "100");
  check_replay(me.post("/v1/payments/swap/own", swap), id);
  world.app.settle();
  CHECK(me.status(id) == "failed");
}

}  // namespace replay_test
