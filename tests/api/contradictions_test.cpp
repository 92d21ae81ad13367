// A provider that contradicts the final status of a payment: one query, a record of it, an alert,
// and the operator's correction.
#include <catch2/catch.hpp>

#include "base/mutex.h"
#include "flows/settlement/resolve_payment.h"
#include "outbound/providers/provider_signature.h"
#include "store/operations/payment_story.h"
#include "store/providers/provider_payments.h"
#include "support/connectors.h"
#include "support/recipients.h"
#include "support/test_app.h"
#include "unit/http/running_server.h"

using namespace coffer;
using namespace coffer::test;
using flows::Resolution;

namespace contradictions_test {
namespace {

/// A provider whose responses the test chooses, with a payout and a collection connector.
struct World {
  TestApp app{[](Config& config) { config.token_lifetime_s = 86'400; }};
  const Client& me = app.me();
  std::string wallet = app.wallet("USDC", "1000");
  Mutex mutex;
  Json says COFFER_GUARDED_BY(mutex) = Json{{"status", "pending"}};
  int queries COFFER_GUARDED_BY(mutex) = 0;
  http::test::RunningServer provider{{},
                                     [this](http::Request& request) { return answer(request); }};
  std::string url = "http://127.0.0.1:" + std::to_string(provider.port());
  std::string payouts = add_http_connector(app, url, 5'000);
  std::string collections = add_connector(app, [&] {
    flows::NewConnector out = collection_connector();
    out.terms.driver = DriverKind::http;
    out.terms.endpoint = ProviderEndpoint{url, Secret("shared"), 5'000};
    return out;
  }());

  http::Response answer(const http::Request& request) {
    http::Response out;
    if (request.path == "/quotes") {
      const bool payout = Json::parse(request.body).at("direction") == "OFF_RAMP";
      out.body =
          payout ? R"({"sendAmount":"100","receiveAmount":"12950","fee":"1.5","rate":"129.5"})"
                 : R"({"sendAmount":"10000","receiveAmount":"74.175","fee":"110","rate":"0.0075"})";
      return out;
    }
    const bool asks = request.method == "GET";
    const Lock lock(mutex);
    if (asks) ++queries;
    Json body = says;
    body["id"] = asks ? request.path.substr(request.path.rfind('/') + 1)
                      : Json::parse(request.body).at("id").get<std::string>();
    if (says.at("status") == "broken") out.status = 500;
    if (says.at("status") == "unknown") {
      out.status = 404;
      body = {{"code", "collection_not_found"}};
    }
    out.body = body.dump();
    return out;
  }
  void say(const Json& members) {
    const Lock lock(mutex);
    says = members;
  }
  int asked() {
    const Lock lock(mutex);
    return queries;
  }
  std::string pay_out() {
    const std::string recipient = add_recipient(me);
    return me.pay("/v1/payments/offramp",
                  cash_out_body(quote_for(me, payouts, recipient, "100"), wallet, recipient));
  }
  std::string collect() {
    return me.pay("/v1/payments/onramp",
                  collection_body(collection_quote(me, collections), wallet));
  }
  /// The provider says this from now on, and a signed callback reports it.
  void report(const std::string& connector, const std::string& id, const Json& members) {
    say(members);
    call_back(connector, id, members);
  }
  void call_back(const std::string& connector, const std::string& id, Json members) {
    members["id"] = id;
    const char* type = connector == payouts ? "payout.updated" : "collection.updated";
    const std::string body = Json{{"id", "cb"}, {"type", type}, {"data", members}}.dump();
    const std::string path = "/v1/providers/" + connector + "/callbacks";
    HttpCall call{"POST", path, {}, body};
    for (const auto& [name, value] :
         outbound::sign(Secret("shared"), app.clock.now(), {"POST", path, body})) {
      call.headers.emplace_back(name, value);
    }
    CHECK(app.anonymous().send(call).status == 200);
    pass(1'000);
  }
  void pass(int ms) {
    for (int passed = 0; passed < ms; passed += 250) {
      app.clock.advance_ms(250);
      app.settle();
    }
  }
  template <class F>
  auto read(F&& from) {
    return store::with_reader(app.core().database(), std::forward<F>(from)).value();
  }
  std::int64_t contradicted() {
    return read([](store::Connection& db) {
      return store::count_open_items(db, OpenItem::contradicted, 100);
    });
  }
  std::vector<std::string> attempts(const std::string& id) {
    return read([&](store::Connection& db) {
      std::vector<std::string> out;
      const auto key = store::find_payment(db, tenant(db), *PaymentId::parse(id))->key;
      for (const auto& each : store::attempts_of_payment(db, key)) out.push_back(*each.outcome);
      return out;
    });
  }
  Tenant tenant(store::Connection& db) {
    return *store::find_application(db, me.credentials().application)->tenant;
  }
  /// `done`, or the reason why the payment cannot be resolved like this.
  std::string resolve(const std::string& id, Resolution as, const char* amount = nullptr) {
    flows::ManualResult result{as, "op", "statement"};
    if (amount != nullptr) result.amount = test::amount(amount);
    const auto resolved = flows::resolve_payment(app.flows(), *PaymentId::parse(id), result);
    return resolved ? "done" : resolved.error().detail;
  }
  std::string funds() { return me.funds(wallet, "USDC"); }
};

std::vector<std::string> way(const Json& record) {
  return member_of_each(record.at("statusHistory"), "status");
}

}  // namespace

TEST_CASE("a success after a failed payout is checked once, alerted, and booked once") {
  World world;
  world.say(
      {{"status", "failed"}, {"failure", {{"code", "account_closed"}}}, {"refund", "returned"}});
  const std::string id = world.pay_out();
  world.pass(1'000);
  REQUIRE(world.me.status(id) == "failed");
  REQUIRE(world.funds() == "1000.00/1000.00/0.00");
  CHECK(world.resolve(id, Resolution::succeeded) != "done");
  const int before = world.asked();
  world.report(world.payouts, id, {{"status", "succeeded"}, {"providerReference", "P-1"}});
  for (int i = 0; i < 3; ++i) world.report(world.payouts, id, {{"status", "succeeded"}});
  CHECK(world.asked() == before + 1);
  CHECK(world.attempts(id).back() == "succeeded");
  CHECK(world.contradicted() == 1);
  CHECK(world.me.status(id) == "failed");
  CHECK(world.funds() == "1000.00/1000.00/0.00");
  REQUIRE(world.resolve(id, Resolution::succeeded) == "done");
  CHECK(world.funds() == "898.50/898.50/0.00");
  CHECK(world.contradicted() == 0);
  const Json record = world.me.record(id);
  CHECK(way(record) == std::vector<std::string>{"initiated", "processing", "failed", "succeeded"});
  CHECK_FALSE(record.contains("statusReason"));
  CHECK(world.resolve(id, Resolution::succeeded) != "done");
  // Every event contains the record at its time.
  for (const Json& event : world.me.all("/v1/events")) {
    if (event.at("type") != "payment.failed") continue;
    CHECK(event.at("data").at("status") == "failed");
    CHECK(event.at("data").at("statusReason").at("code") == "account_closed");
    CHECK_FALSE(event.at("data").contains("ledgerTransactionHash"));
  }
}

TEST_CASE("a payout that was paid after its refund is debited again") {
  World world;
  world.say({{"status", "pending"}});
  const std::string id = world.pay_out();
  world.pass(1'000);
  world.say(
      {{"status", "failed"}, {"failure", {{"code", "account_closed"}}}, {"refund", "returned"}});
  world.pass(10'000);
  REQUIRE(world.me.status(id) == "refunded");
  world.report(world.payouts, id, {{"status", "succeeded"}});
  CHECK(world.contradicted() == 1);
  REQUIRE(world.resolve(id, Resolution::succeeded) == "done");
  CHECK(world.funds() == "898.50/898.50/0.00");
  const Json record = world.me.record(id);
  CHECK(way(record) == std::vector<std::string>{"initiated", "processing", "failed",
                                                "refund_pending", "refunded", "succeeded"});
  CHECK_FALSE(record.contains("refund"));
  // A correction is not corrected.
  world.report(world.payouts, id, {{"status", "failed"}, {"failure", {{"code", "other"}}}});
  CHECK(world.contradicted() == 1);
  CHECK(world.resolve(id, Resolution::refunded) != "done");
  CHECK(world.resolve(id, Resolution::unchanged) == "done");
  world.report(world.payouts, id, {{"status", "failed"}, {"failure", {{"code", "other"}}}});
  CHECK(world.contradicted() == 0);
  CHECK(world.funds() == "898.50/898.50/0.00");
}

TEST_CASE("a failure after a success is refunded once") {
  World world;
  world.say({{"status", "succeeded"}});
  const std::string payout = world.pay_out();
  world.pass(1'000);
  REQUIRE(world.me.status(payout) == "succeeded");
  const Json failed{
      {"status", "failed"}, {"failure", {{"code", "account_closed"}}}, {"refund", "returned"}};
  world.report(world.payouts, payout, failed);
  CHECK(world.contradicted() == 1);
  CHECK(world.resolve(payout, Resolution::returned) != "done");
  REQUIRE(world.resolve(payout, Resolution::refunded) == "done");
  CHECK(world.funds() == "1000.00/1000.00/0.00");
  CHECK(way(world.me.record(payout)) == std::vector<std::string>{"initiated", "processing",
                                                                 "succeeded", "failed",
                                                                 "refund_pending", "refunded"});

  world.say({{"status", "collected"}});
  const std::string collection = world.collect();
  world.pass(1'000);
  REQUIRE(world.funds() == "1074.175/1074.175/0.00");
  world.report(world.collections, collection, {{"status", "failed"}});
  REQUIRE(world.resolve(collection, Resolution::refunded) == "done");
  CHECK(world.funds() == "1000.00/1000.00/0.00");
  CHECK(world.me.status(collection) == "refunded");
  CHECK(world.contradicted() == 0);
}

TEST_CASE("a collection that was paid after it expired or failed is booked or returned once") {
  for (const char* end : {"expired", "failed"}) {
    INFO(end);
    World world;
    world.say({{"status", end}});
    const std::string booked = world.collect(), part = world.collect(), returned = world.collect();
    world.pass(1'000);
    REQUIRE(world.me.status(booked) == end);
    const Json late{{"status", "collected"}, {"collectedAmount", "10000"}};
    for (const std::string& id : {booked, part, returned})
      world.report(world.collections, id, late);
    CHECK(world.contradicted() == 3);
    CHECK(world.attempts(booked).back() == "collected");
    CHECK(world.resolve(part, Resolution::succeeded, "74.1750001") != "done");
    REQUIRE(world.resolve(booked, Resolution::succeeded) == "done");
    REQUIRE(world.resolve(part, Resolution::succeeded, "50") == "done");
    REQUIRE(world.resolve(returned, Resolution::returned) == "done");
    CHECK(world.contradicted() == 0);
    CHECK(world.funds() == "1124.175/1124.175/0.00");
    CHECK(way(world.me.record(booked)) ==
          std::vector<std::string>{"initiated", "processing", end, "succeeded"});
    CHECK(world.me.status(returned) == end);
    for (const std::string& id : {booked, part, returned})
      world.report(world.collections, id, late);
    CHECK(world.contradicted() == 0);
    CHECK(world.funds() == "1124.175/1124.175/0.00");
  }
}

TEST_CASE("a callback is a hint: one that is not valid causes the same query as a valid one") {
  World world;
  world.say({{"status", "expired"}});
  const std::string first = world.collect();
  world.pass(1'000);
  const Json late{{"status", "collected"}, {"collectedAmount", "10000"}};
  std::vector<Json> flawed(5, late);
  flawed[0]["collectedAmount"] = "10000.001";
  flawed[1]["sendAmount"] = "2000";
  flawed[2]["failure"] = {{"code", "other"}};
  flawed[3]["providerReference"] = std::string(129, 'r');
  flawed[4]["status"] = "paid";
  for (const Json& hint : flawed) {
    INFO(hint.dump());
    world.say({{"status", "expired"}});
    const std::string id = world.collect();
    world.pass(1'000);
    REQUIRE(world.me.status(id) == "expired");
    world.say(late);
    const std::int64_t before = world.contradicted();
    world.call_back(world.collections, id, hint);
    CHECK(world.attempts(id).back() == "collected");
    CHECK(world.contradicted() == before + 1);
  }
  world.say({{"status", "succeeded"}});
  const std::string payout = world.pay_out();
  world.pass(1'000);
  const std::int64_t before = world.contradicted();
  // The response has the same fault, so it confirms nothing.
  world.report(world.payouts, payout, {{"status", "succeeded"}, {"receiveAmount", "1.00"}});
  CHECK(world.contradicted() == before + 1);
  CHECK(world.me.status(first) == "expired");
}

TEST_CASE("a provider that does not know a payment after reporting it leaves it to an operator") {
  World world;
  world.say({{"status", "expired"}});
  const std::string unknown = world.collect(), denied = world.collect();
  world.pass(1'000);
  world.say({{"status", "unknown"}});
  world.call_back(world.collections, unknown, {{"status", "collected"}});
  CHECK(world.attempts(unknown).back() == "never_arrived");
  CHECK(world.contradicted() == 1);
  world.say({{"status", "expired"}});  // the response confirms the status
  world.call_back(world.collections, denied, {{"status", "collected"}});
  CHECK(world.attempts(denied).back() == "expired");
  CHECK(world.contradicted() == 1);
}

TEST_CASE("later reports about money that was not credited are checked too") {
  World world;
  world.say({{"status", "collected"}, {"collectedAmount", "100"}});  // the fee is 110
  const std::string whole = world.collect(), gone = world.collect(), same = world.collect(),
                    returned = world.collect();
  world.pass(1'000);
  REQUIRE(world.resolve(returned, Resolution::returned) == "done");
  const auto unbooked = [&] {
    return world.read(
        [](store::Connection& db) { return store::count_open_items(db, OpenItem::unbooked, 9); });
  };
  REQUIRE(unbooked() == 3);
  const int before = world.asked();
  world.report(world.collections, same, {{"status", "collected"}, {"collectedAmount", "100"}});
  world.report(world.collections, returned, {{"status", "collected"}, {"collectedAmount", "100"}});
  CHECK(world.asked() == before);
  // A confirmed status leaves the item as it was.
  REQUIRE(flows::retry_payment(world.app.flows(), *PaymentId::parse(same)));
  REQUIRE(flows::retry_payment(world.app.flows(), *PaymentId::parse(returned)));
  world.pass(1'000);
  CHECK(unbooked() == 3);
  CHECK(world.resolve(returned, Resolution::returned) != "done");
  world.report(world.collections, gone, {{"status", "expired"}});
  const Json all{{"status", "collected"}, {"collectedAmount", "10000"}};
  world.report(world.collections, whole, all);
  world.report(world.collections, returned, all);
  CHECK(world.contradicted() == 3);
  CHECK(unbooked() == 1);
  CHECK(world.resolve(gone, Resolution::unchanged) == "done");
  REQUIRE(world.resolve(whole, Resolution::succeeded) == "done");
  CHECK(world.funds() == "1074.175/1074.175/0.00");
  CHECK(world.me.record(whole).at("collectedAmount") == "10000.00");
}

TEST_CASE("a provider that cannot be queried does not withdraw its signed message") {
  World world;
  world.say({{"status", "expired"}});
  const std::string id = world.collect();
  world.pass(1'000);
  world.report(world.collections, id, {{"status", "pending"}});  // late and out of order
  CHECK(world.contradicted() == 0);
  world.say({{"status", "broken"}});
  const int before = world.asked();
  // An operator's own query that fails contradicts nothing.
  REQUIRE(flows::retry_payment(world.app.flows(), *PaymentId::parse(id)));
  world.pass(1'000);
  CHECK(world.asked() == before + 1);
  CHECK(world.contradicted() == 0);
  REQUIRE(world.app.settle() == 0);
}

TEST_CASE("a query that confirms the status closes the contradiction, and an operator can ask") {
  World world;
  world.say({{"status", "expired"}});
  const std::string id = world.collect();
  world.pass(1'000);
  REQUIRE(flows::retry_payment(world.app.flows(), *PaymentId::parse(id)));
  world.pass(1'000);
  CHECK(world.contradicted() == 0);
  world.say({{"status", "collected"}, {"collectedAmount", "10000"}});
  REQUIRE(flows::retry_payment(world.app.flows(), *PaymentId::parse(id)));
  CHECK(world.resolve(id, Resolution::succeeded) != "done");  // while the query is due
  world.pass(1'000);
  CHECK(world.contradicted() == 1);
  CHECK(world.resolve(id, Resolution::succeeded) == "done");
  CHECK(world.me.balance(world.wallet, "USDC") == "1074.175");
}

TEST_CASE("money that arrived and was not credited is booked with a stated amount, or returned") {
  World world;
  world.say({{"status", "collected"}, {"collectedAmount", "100"}});  // the fee is 110
  const std::string booked = world.collect(), returned = world.collect();
  world.pass(1'000);
  REQUIRE(world.me.record(booked).at("statusReason").at("code") == "underpaid");
  const auto unbooked = [&] {
    return world.read(
        [](store::Connection& db) { return store::count_open_items(db, OpenItem::unbooked, 9); });
  };
  CHECK(unbooked() == 2);
  CHECK(world.resolve(booked, Resolution::unchanged) != "done");
  CHECK(world.resolve(booked, Resolution::succeeded) != "done");  // the price gives nothing
  REQUIRE(world.resolve(booked, Resolution::succeeded, "0.5") == "done");
  REQUIRE(world.resolve(returned, Resolution::returned) == "done");
  CHECK(world.resolve(returned, Resolution::returned) != "done");
  CHECK(unbooked() == 0);
  CHECK(world.funds() == "1000.50/1000.50/0.00");
  CHECK(world.me.record(booked).at("collectedAmount") == "100.00");
}

}  // namespace contradictions_test
