// Payouts that a bank sends back after they have succeeded (docs/contract.md#refunds).
#include <catch2/catch.hpp>

#include "base/mutex.h"
#include "flows/settlement/resolve_payment.h"
#include "outbound/providers/provider_signature.h"
#include "store/providers/arrivals.h"
#include "store/providers/provider_payments.h"
#include "support/connectors.h"
#include "support/recipients.h"
#include "support/test_app.h"
#include "unit/http/running_server.h"

using namespace coffer;
using namespace coffer::test;
using flows::Resolution;

namespace refunds_test {
namespace {

/// A provider whose payouts have the status that the test chooses. A payout of 100 USDC costs
/// 101.50 and pays 12,950 KES.
struct World {
  TestApp app{[](Config& config) { config.token_lifetime_s = 10'000'000; }};
  const Client& me = app.me();
  std::string wallet = app.wallet("USDC", "1000");
  Mutex mutex;
  Json says COFFER_GUARDED_BY(mutex) = Json{{"status", "succeeded"}};
  int queries COFFER_GUARDED_BY(mutex) = 0;
  http::test::RunningServer provider{{},
                                     [this](http::Request& request) { return answer(request); }};
  std::string url = "http://127.0.0.1:" + std::to_string(provider.port());
  std::string connector = add_http_connector(app, url, 5'000);

  http::Response answer(const http::Request& request) {
    http::Response out;
    if (request.path == "/quotes") {
      out.body = R"({"sendAmount":"100","receiveAmount":"12950","fee":"1.5","rate":"129.5"})";
      return out;
    }
    const bool asks = request.method == "GET";
    const Lock lock(mutex);
    if (asks) ++queries;
    Json body = says;
    body["id"] = asks ? request.path.substr(request.path.rfind('/') + 1)
                      : Json::parse(request.body).at("id").get<std::string>();
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
    Json body = cash_out_body(quote_for(me, connector, recipient, "100"), wallet, recipient);
    body["fromRef"] = "PAYOUT-1";
    const std::string id = me.pay("/v1/payments/offramp", body);
    pass(1'000);
    return id;
  }
  int call_back(const std::string& type, const Json& data, const char* secret = "shared") {
    const std::string body = Json{{"id", "cb"}, {"type", type}, {"data", data}}.dump();
    const std::string path = "/v1/providers/" + connector + "/callbacks";
    HttpCall call{"POST", path, {}, body};
    for (const auto& [name, value] :
         outbound::sign(Secret(secret), app.clock.now(), {"POST", path, body})) {
      call.headers.emplace_back(name, value);
    }
    return app.anonymous().send(call).status;
  }
  int send_back(const std::string& id, const char* return_id, const Json& more = Json::object()) {
    Json data{{"id", id},
              {"returnId", return_id},
              {"amount", "12950.00"},
              {"currencyIsoCode3", "KES"},
              {"reason", "Account closed"}};
    data.merge_patch(more);
    return call_back("payout.returned", data);
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
  std::int64_t arrivals() {
    return read([](store::Connection& db) { return store::count_open_arrivals(db, 100); });
  }
  std::string resolve(const std::string& id, Resolution as) {
    const auto done =
        flows::resolve_payment(app.flows(), *PaymentId::parse(id), {as, "op", "statement"});
    return done ? "done" : done.error().detail;
  }
  std::string funds() { return me.funds(wallet, "USDC"); }
  Json refund(const std::string& id) { return me.record(id).value("refund", Json()); }
};

std::vector<std::string> way(const Json& record) {
  return member_of_each(record.at("statusHistory"), "status");
}

using Ways = std::vector<std::string>;

}  // namespace

TEST_CASE("a payout that comes back days later is credited once, without its fee") {
  World world;
  const std::string id = world.pay_out();
  REQUIRE(world.funds() == "898.50/898.50/0.00");
  world.app.clock.advance_ms(3 * 86'400'000);
  for (int i = 0; i < 3; ++i) CHECK(world.send_back(id, "R-1") == 200);
  world.app.restart();
  world.app.clock.advance_ms(86'400'000);
  CHECK(world.send_back(id, "R-1") == 200);
  CHECK(world.funds() == "998.50/998.50/0.00");
  const Json record = world.me.record(id);
  CHECK(record.at("status") == "refunded");
  CHECK(way(record) == Ways{"initiated", "processing", "succeeded", "refund_pending", "refunded"});
  CHECK(record.at("refund").at("status") == "refunded");
  CHECK(record.at("refund").at("amount") == "100.00");
  CHECK(record.at("refund").at("reason") == "Account closed");
  CHECK_FALSE(record.contains("statusReason"));
  CHECK(world.contradicted() == 0);

  const Json statement = world.me
                             .get("/v1/statements/transactions?walletId=" + world.wallet +
                                  "&assetCode=USDC&startDate=2026-01-01&endDate=2026-02-01")
                             .json();
  const Json line = statement.at("data").back();
  CHECK(line.at("amount") == "100.00");
  CHECK(line.at("reference") == "PAYOUT-1");
  CHECK(line.at("transactionRecordId") == id);

  // Every event contains the record at its time.
  Ways told;
  for (const Json& event : world.me.all("/v1/events")) {
    const Json& data = event.at("data");
    if (!data.contains("statusHistory") || data.at("id") != id) continue;
    told.push_back(event.at("type"));
    CHECK(way(data).back() == data.at("status"));
    CHECK(data.contains("refund") == (data.at("version").get<int>() > 3));
    if (event.at("type") == "payment.refund_pending") {
      CHECK(data.at("refund").at("status") == "pending");
      CHECK(data.at("refund").at("amount") == "100.00");
    }
  }
  CHECK(told == Ways{"payment.initiated", "payment.processing", "payment.succeeded",
                     "payment.refund_pending", "payment.refunded"});
}

TEST_CASE("parts of a payout that come back add up to exactly what was debited") {
  World world;
  const std::string id = world.pay_out();
  const std::vector<std::pair<const char*, const char*>> parts{
      {"0.01", "898.5000772"},     // 100 x 0.01 / 12950, rounded down to 7 places
      {"4316.66", "931.833359"},   // of the sum 4316.67
      {"8633.32", "998.4999227"},  // of 12949.99
      {"0.01", "998.50"}};
  int number = 0;
  for (const auto& [amount, balance] : parts) {
    const std::string return_id = "R-" + std::to_string(++number);
    CHECK(world.send_back(id, return_id.c_str(), {{"amount", amount}}) == 200);
    CHECK(world.send_back(id, return_id.c_str(), {{"amount", amount}}) == 200);
    CHECK(world.me.balance(world.wallet, "USDC") == balance);
  }
  const Json record = world.me.record(id);
  CHECK(record.at("refund").at("amount") == "100.00");
  CHECK(way(record) == Ways{"initiated", "processing", "succeeded", "refund_pending", "refunded",
                            "refunded", "refunded", "refunded"});
  CHECK(record.at("version") == 8);
  std::vector<std::string> amounts;
  for (const Json& event : world.me.all("/v1/events")) {
    if (event.at("type") != "payment.refunded") continue;
    amounts.push_back(event.at("data").at("refund").at("amount"));
  }
  CHECK(amounts == Ways{"0.0000772", "33.333359", "99.9999227", "100.00"});
  CHECK(world.contradicted() == 0);
  // More than the payout came back.
  CHECK(world.send_back(id, "R-9", {{"amount", "0.01"}}) == 200);
  CHECK(world.contradicted() == 1);
  CHECK(world.funds() == "998.50/998.50/0.00");
}

TEST_CASE("a return with the fee credits the fee once") {
  World world;
  const std::string id = world.pay_out();
  CHECK(world.send_back(id, "R-1", {{"amount", "6475"}, {"feeReturned", true}}) == 200);
  CHECK(world.funds() == "950.00/950.00/0.00");
  CHECK(world.send_back(id, "R-2", {{"amount", "6475"}, {"feeReturned", true}}) == 200);
  CHECK(world.funds() == "1000.00/1000.00/0.00");
  CHECK(world.refund(id).at("amount") == "101.50");
}

TEST_CASE("a return that contradicts its payout or an earlier report is left to an operator") {
  struct Case {
    const char* name;
    Json first;   // R-1
    Json second;  // R-1 too; null: none
    const char* funds;
    int contradicted;
  };
  const std::vector<Case> cases{
      {"another currency", {{"currencyIsoCode3", "USD"}}, {}, "898.50/898.50/0.00", 1},
      {"more decimal places", {{"amount", "1.001"}}, {}, "898.50/898.50/0.00", 1},
      {"more than the payout", {{"amount", "12950.01"}}, {}, "898.50/898.50/0.00", 1},
      {"more than the ledger stores",
       {{"amount", "99999999999999999999"}},
       {},
       "898.50/898.50/0.00",
       1},
      {"another amount under one ID", {}, {{"amount", "12949.00"}}, "998.50/998.50/0.00", 1},
      {"another currency under one ID", {}, {{"currencyIsoCode3", "USD"}}, "998.50/998.50/0.00", 1},
      {"another fee under one ID", {}, {{"feeReturned", true}}, "998.50/998.50/0.00", 1},
      {"the same amount in another form", {}, {{"amount", "12950"}}, "998.50/998.50/0.00", 0},
      {"another reason", {}, {{"reason", "Other"}}, "998.50/998.50/0.00", 0},
  };
  for (const Case& one : cases) {
    INFO(one.name);
    World world;
    const std::string id = world.pay_out();
    CHECK(world.send_back(id, "R-1", one.first.is_null() ? Json::object() : one.first) == 200);
    if (!one.second.is_null()) CHECK(world.send_back(id, "R-1", one.second) == 200);
    CHECK(world.funds() == one.funds);
    CHECK(world.contradicted() == one.contradicted);
    if (one.contradicted == 0) continue;
    CHECK(world.resolve(id, Resolution::succeeded) != "done");
    REQUIRE(world.resolve(id, Resolution::unchanged) == "done");
    // The decision stands, however often the provider repeats its reports.
    CHECK(world.send_back(id, "R-1", one.first.is_null() ? Json::object() : one.first) == 200);
    if (!one.second.is_null()) CHECK(world.send_back(id, "R-1", one.second) == 200);
    CHECK(world.contradicted() == 0);
    CHECK(world.funds() == one.funds);
  }
}

TEST_CASE("one return ID for two payouts credits the first") {
  World world;
  const std::string first = world.pay_out(), second = world.pay_out();
  CHECK(world.send_back(first, "R-1") == 200);
  CHECK(world.send_back(second, "R-1") == 200);
  CHECK(world.funds() == "897.00/897.00/0.00");
  CHECK(world.contradicted() == 1);
  CHECK(world.me.status(second) == "succeeded");
}

TEST_CASE("a return of a payout in progress waits for its end") {
  for (const char* end : {"succeeded", "failed"}) {
    INFO(end);
    World world;
    world.say({{"status", "pending"}});
    const std::string id = world.pay_out();
    REQUIRE(world.me.status(id) == "processing");
    CHECK(world.send_back(id, "R-1") == 200);
    CHECK(world.send_back(id, "R-1") == 200);
    CHECK(world.funds() == "898.50/898.50/0.00");
    CHECK(world.contradicted() == 0);
    Json says{{"status", end}};
    const bool failed = std::string_view(end) == "failed";
    if (failed) says.update({{"failure", {{"code", "account_closed"}}}, {"refund", "returned"}});
    world.say(says);
    world.pass(1'000);
    CHECK(world.me.status(id) == "refunded");
    CHECK(world.funds() == (failed ? "1000.00/1000.00/0.00" : "998.50/998.50/0.00"));
    CHECK(world.contradicted() == (failed ? 1 : 0));
    CHECK(world.send_back(id, "R-1") == 200);
    CHECK(world.funds() == (failed ? "1000.00/1000.00/0.00" : "998.50/998.50/0.00"));
  }
}

TEST_CASE("a return of a payout that failed, or of an unknown one, is not credited") {
  World world;
  world.say(
      {{"status", "failed"}, {"failure", {{"code", "account_closed"}}}, {"refund", "returned"}});
  const std::string failed = world.pay_out();
  REQUIRE(world.me.status(failed) == "failed");
  CHECK(world.send_back(failed, "R-1") == 200);
  CHECK(world.contradicted() == 1);
  CHECK(world.resolve(failed, Resolution::unchanged) == "done");
  const std::vector<std::string> unknown{"0198f3a1-5b10-7c3e-8a54-6d1f2b7c9e01", "not an ID"};
  for (const std::string& id : unknown) {
    for (int i = 0; i < 2; ++i) CHECK(world.send_back(id, ("R-" + id).c_str()) == 200);
  }
  CHECK(world.arrivals() == 2);
  CHECK(world.funds() == "1000.00/1000.00/0.00");
  // The provider corrects the payout of an ID: an operator compares both.
  world.say({{"status", "succeeded"}});
  const std::string paid = world.pay_out();
  CHECK(world.send_back(paid, ("R-" + unknown.front()).c_str()) == 200);
  CHECK(world.contradicted() == 1);
  CHECK(world.funds() == "898.50/898.50/0.00");
}

TEST_CASE("late callbacks about a returned payout change nothing") {
  World world;
  const std::string id = world.pay_out();
  CHECK(world.send_back(id, "R-1", {{"amount", "6475"}}) == 200);
  const int before = world.asked();
  CHECK(world.call_back("payout.updated", {{"id", id}, {"status", "succeeded"}}) == 200);
  world.pass(1'000);
  CHECK(world.asked() == before);
  CHECK(world.contradicted() == 0);
  // A failure of the whole payout contradicts it, and cannot be refunded in addition.
  const Json failed{
      {"status", "failed"}, {"failure", {{"code", "account_closed"}}}, {"refund", "returned"}};
  world.say(failed);
  Json data = failed;
  data["id"] = id;
  CHECK(world.call_back("payout.updated", data) == 200);
  world.pass(1'000);
  CHECK(world.contradicted() == 1);
  CHECK(world.resolve(id, Resolution::refunded) != "done");
  CHECK(world.resolve(id, Resolution::unchanged) == "done");
  CHECK(world.funds() == "948.50/948.50/0.00");
}

TEST_CASE("a return during the check of a contradiction is not lost") {
  World world;
  const std::string id = world.pay_out();
  REQUIRE(flows::retry_payment(world.app.flows(), *PaymentId::parse(id)));
  CHECK(world.send_back(id, "R-1", {{"currencyIsoCode3", "USD"}}) == 200);
  world.pass(1'000);
  CHECK(world.contradicted() == 1);
}

TEST_CASE("a return of a failed payout is credited if an operator books the payout after all") {
  World world;
  world.say(
      {{"status", "failed"}, {"failure", {{"code", "account_closed"}}}, {"refund", "returned"}});
  const std::string id = world.pay_out();
  REQUIRE(world.me.status(id) == "failed");
  CHECK(world.send_back(id, "R-1", {{"amount", "6475.00"}}) == 200);
  CHECK(world.contradicted() == 1);
  REQUIRE(world.resolve(id, Resolution::succeeded) == "done");
  CHECK(world.funds() == "948.50/948.50/0.00");
  CHECK(world.refund(id).at("amount") == "50.00");
  CHECK(world.contradicted() == 0);
  // What still contradicts the payout stays open.
  const std::string other = world.pay_out();
  CHECK(world.send_back(other, "R-2", {{"amount", "12950.01"}}) == 200);
  REQUIRE(world.resolve(other, Resolution::succeeded) == "done");
  CHECK(world.contradicted() == 1);
  CHECK(world.refund(other).is_null());
}

TEST_CASE("a payout comes back in at most 100 parts; further ones are left to an operator") {
  World world;
  const std::string id = world.pay_out();
  for (int i = 0; i < 100; ++i) {
    const std::string return_id = "R-" + std::to_string(i);
    REQUIRE(world.send_back(id, return_id.c_str(), {{"amount", "12.95"}}) == 200);
  }
  CHECK(world.contradicted() == 0);
  CHECK(world.refund(id).at("amount") == "10.00");
  CHECK(world.send_back(id, "R-100", {{"amount", "12.95"}}) == 200);
  CHECK(world.contradicted() == 1);
  CHECK(world.refund(id).at("amount") == "10.00");
}

TEST_CASE("a payment that was corrected to succeeded can come back") {
  World world;
  world.say({{"status", "pending"}});
  const std::string id = world.pay_out();
  world.say(
      {{"status", "failed"}, {"failure", {{"code", "account_closed"}}}, {"refund", "returned"}});
  world.pass(10'000);
  REQUIRE(world.me.status(id) == "refunded");
  world.say({{"status", "succeeded"}});
  CHECK(world.call_back("payout.updated", {{"id", id}, {"status", "succeeded"}}) == 200);
  world.pass(1'000);
  REQUIRE(world.resolve(id, Resolution::succeeded) == "done");
  REQUIRE(world.funds() == "898.50/898.50/0.00");
  CHECK(world.send_back(id, "R-1") == 200);
  CHECK(world.funds() == "998.50/998.50/0.00");
  CHECK(way(world.me.record(id)) == Ways{"initiated", "processing", "failed", "refund_pending",
                                         "refunded", "succeeded", "refund_pending", "refunded"});
  CHECK(world.refund(id).at("amount") == "100.00");
}

TEST_CASE("a return credits a suspended association") {
  World world;
  const std::string id = world.pay_out();
  world.app.change_status(world.app.association(), AssociationStatus::suspended);
  CHECK(world.send_back(id, "R-1", {{"amount", "6475"}}) == 200);
  world.app.change_status(world.app.association(), AssociationStatus::active);
  CHECK(world.funds() == "948.50/948.50/0.00");
}

TEST_CASE("a return needs an amount, an ID and the current secret") {
  World world;
  const std::string id = world.pay_out();
  struct Case {
    Json change;
    int status;
  };
  for (const auto& [change, status] :
       std::vector<Case>{{{{"returnId", nullptr}}, 400},
                         {{{"amount", nullptr}}, 400},
                         {{{"amount", "0"}}, 422},
                         {{{"amount", "-1"}}, 422},
                         {{{"currencyIsoCode3", nullptr}}, 400},
                         {{{"feeReturned", "yes"}}, 400},
                         {{{"returnId", std::string(129, 'r')}}, 400}}) {
    INFO(change.dump());
    CHECK(world.send_back(id, "R-1", change) == status);
  }
  CHECK(world.call_back("payout.returned", {{"id", id}}, "guessed") == 401);
  CHECK(world.funds() == "898.50/898.50/0.00");
  // The address that got the payout may report its return, with its own secret.
  world.say({{"status", "pending"}});
  const std::string open = world.pay_out();
  REQUIRE(flows::set_connector_endpoint(world.app.flows(), *ConnectorId::parse(world.connector),
                                        {"http://127.0.0.1:1/", {}, true}));
  REQUIRE(flows::rotate_connector_secret(world.app.flows(), *ConnectorId::parse(world.connector)));
  CHECK(world.send_back(open, "R-2") == 200);
  CHECK(world.send_back("0198f3a1-5b10-7c3e-8a54-6d1f2b7c9e01", "R-3") == 401);
}

}  // namespace refunds_test
