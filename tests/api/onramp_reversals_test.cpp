// Reversals of on-ramps: the provider gives the money back to its payer (docs/contract.md#refunds).
#include <catch2/catch.hpp>
#include <functional>
#include <map>
#include <set>
#include <utility>

#include "base/mutex.h"
#include "flows/providers/refunds.h"
#include "flows/settlement/resolve_payment.h"
#include "outbound/providers/provider_signature.h"
#include "store/operations/backlog.h"
#include "store/operations/figures.h"
#include "store/operations/payment_lists.h"
#include "store/operations/payment_story.h"
#include "store/operations/verification.h"
#include "store/providers/provider_payments.h"
#include "support/connectors.h"
#include "support/recipients.h"
#include "support/test_app.h"
#include "unit/http/running_server.h"

using namespace coffer;
using namespace coffer::test;
using flows::Resolution;

namespace onramp_reversals_test {
namespace {

using Ways = std::vector<std::string>;

/// What tests of all drivers use. An on-ramp of 10,000 KES, of which 110 are the fee,
/// credits 74.175 USDC.
struct Desk {
  TestApp app{[](Config& config) { config.token_lifetime_s = 10'000'000; }};
  const Client& me = app.me();
  std::string wallet = app.wallet("USDC");

  void pass(int ms) {
    app.settle();
    for (int passed = 0; passed < ms; passed += 250) {
      app.clock.advance_ms(250);
      app.settle();
    }
  }
  Json body(const Json& more) {
    Json body{{"transactionId", fresh_transaction_id()}, {"reason", "Ordered twice"}};
    body.merge_patch(more);
    return body;
  }
  Reply reverse(const std::string& id, const Json& more = Json::object()) {
    return me.post("/v1/payments/" + id + "/reversals", body(more));
  }
  int decide(const std::string& id, const std::string& how) {
    return me.send({"POST", "/v1/sandbox/transactions/" + id + "/" + how, {}, {}}).status;
  }
  std::string funds() { return me.funds(wallet, "USDC"); }
  Json refund(const std::string& id) { return me.record(id).value("refund", Json()); }
  Ways way(const std::string& id) {
    return member_of_each(me.record(id).at("statusHistory"), "status");
  }
  template <class F>
  auto read(F&& from) {
    return store::with_reader(app.core().database(), std::forward<F>(from)).value();
  }
  Ways calls(const std::string& id) {
    return read([&](store::Connection& db) {
      Ways out;
      const auto key = store::payment_key(db, *PaymentId::parse(id));
      for (const auto& each : store::attempts_of_payment(db, *key)) {
        out.emplace_back(name(each.call));
      }
      return out;
    });
  }
};

struct World : Desk {
  std::string connector = add_connector(app, collection_connector());

  std::string paid(const std::string& account = "1234567890", const char* amount = "10000") {
    const std::string id =
        me.pay("/v1/payments/onramp",
               collection_body(collection_quote(me, connector, amount), wallet, account));
    pass(1'000);
    REQUIRE(me.status(id) == "succeeded");
    return id;
  }
};

const Ways kOnce{"initiated", "processing", "succeeded", "refund_pending", "refunded"};

}  // namespace

TEST_CASE("an on-ramp is given back in parts, whose shares add up to exactly what was credited") {
  World world;
  const std::string id = world.paid();
  REQUIRE(world.funds() == "74.175/74.175/0.00");
  REQUIRE(world.reverse(id, {{"amount", "4000"}}).status == 202);
  // The share of the credit is held until the provider has given the money back.
  CHECK(world.funds() == "74.175/44.505/29.67");
  CHECK(world.me.status(id) == "refund_pending");
  CHECK(world.refund(id).at("status") == "pending");
  CHECK(world.refund(id).at("amount") == "4000.00");
  CHECK(world.reverse(id, {{"amount", "1"}}).slug() == "conflict");
  world.pass(500);
  CHECK(world.funds() == "44.505/44.505/0.00");
  CHECK(world.way(id) == kOnce);
  CHECK(world.refund(id).at("status") == "refunded");
  CHECK(world.refund(id).at("reason") == "Ordered twice");
  CHECK(world.reverse(id, {{"amount", "6000.01"}}).slug() == "reversal-exceeds-payment");
  // 0.01 KES is worth 0.0000741750 USDC, which is rounded up.
  REQUIRE(world.reverse(id, {{"amount", "0.01"}}).status == 202);
  world.pass(500);
  CHECK(world.funds() == "44.5049258/44.5049258/0.00");
  REQUIRE(world.reverse(id).status == 202);
  CHECK(world.refund(id).at("amount") == "10000.00");
  world.pass(500);
  CHECK(world.funds() == "0.00/0.00/0.00");
  CHECK(world.reverse(id).slug() == "reversal-exceeds-payment");
  Ways all = kOnce;
  for (int i = 0; i < 2; ++i) {
    all.emplace_back("refund_pending");
    all.emplace_back("refunded");
  }
  CHECK(world.way(id) == all);
  CHECK(world.me.record(id).at("version") == all.size());
  // Each event has the record of its version.
  Ways told;
  for (const Json& event : world.me.all("/v1/events")) {
    if (event.at("data").value("transactionRecordId", "") != id) continue;
    told.push_back(event.at("data").at("status"));
    const auto version = event.at("data").at("version").get<std::size_t>();
    CHECK(version == told.size());
    CHECK(member_of_each(event.at("data").at("statusHistory"), "status") ==
          Ways(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(version)));
    if (version == 4 || version == 5) {
      CHECK(event.at("data").at("refund").at("amount") == "4000.00");
    }
  }
  CHECK(told == all);
}

TEST_CASE("a refund that fails releases the hold, and the on-ramp can be reversed again") {
  for (const auto& [account, code] : std::vector<std::pair<const char*, const char*>>{
           {"000001603", "account_closed"}, {"000001604", "provider_error"}}) {
    World world;
    INFO(account);
    const std::string id = world.paid(account);
    REQUIRE(world.reverse(id, {{"transactionId", "r-1"}}).status == 202);
    world.pass(1'000);
    const Json record = world.me.record(id);
    CHECK(record.at("status") == "refund_failed");
    CHECK(record.at("statusReason").at("code") == code);
    CHECK(record.at("statusHistory").back().at("code") == code);
    CHECK(record.at("refund").at("status") == "failed");
    CHECK(record.at("refund").at("amount") == "0.00");
    CHECK(world.funds() == "74.175/74.175/0.00");
    // Nothing is left for an operator, unlike after a failed refund of an off-ramp.
    CHECK(world.read([](store::Connection& db) { return store::refunds_failed(db); }) == 0);
    // The same request returns the first result, and another one tries again.
    CHECK(world.reverse(id, {{"transactionId", "r-1"}}).json().at("isIdempotent") == true);
    CHECK(world.me.status(id) == "refund_failed");
    REQUIRE(world.reverse(id, {{"amount", "100"}}).status == 202);
    CHECK(world.me.status(id) == "refund_pending");
    CHECK(world.refund(id).at("amount") == "100.00");
    world.pass(1'000);
    CHECK(world.me.status(id) == "refund_failed");
    CHECK(world.me.record(id).at("version") == 7);
    CHECK(world.funds() == "74.175/74.175/0.00");
  }
}

TEST_CASE("a reversal is tried at most 100 times, the failed ones included") {
  World world;
  const std::string id = world.paid("000001601");
  for (int i = 0; i < 100; ++i) {
    const Reply further = world.reverse(id, {{"amount", "100"}});
    if (i == 99) {  // the last part must be all that is left
      CHECK(further.slug() == "validation-failed");
      REQUIRE(world.reverse(id).status == 202);
    } else {
      REQUIRE(further.status == 202);
    }
    world.pass(250);
    REQUIRE(world.decide(id, "fail?code=account_closed") == 200);
  }
  const Reply further = world.reverse(id);
  CHECK(further.slug() == "conflict");
  CHECK_THAT(further.text(), Catch::Matchers::Contains("tried 100 times"));
  CHECK(world.funds() == "74.175/74.175/0.00");
}

TEST_CASE("the sandbox decides a refund that waits") {
  World world;
  const std::string id = world.paid("000001601");
  REQUIRE(world.reverse(id, {{"amount", "5000"}}).status == 202);
  world.pass(5'000);
  CHECK(world.me.status(id) == "refund_pending");
  CHECK(world.decide(id, "fail?code=account_closed") == 200);
  CHECK(world.me.record(id).at("statusReason").at("code") == "account_closed");
  CHECK(world.decide(id, "succeed") == 409);
  REQUIRE(world.reverse(id, {{"amount", "5000"}}).status == 202);
  world.app.restart();
  world.pass(5'000);
  CHECK(world.decide(id, "succeed") == 200);
  CHECK(world.me.status(id) == "refunded");
  CHECK(world.refund(id).at("amount") == "5000.00");
  CHECK(world.funds() == "37.0875/37.0875/0.00");
  const std::string reviewed = world.paid("000001602");
  REQUIRE(world.reverse(reviewed).status == 202);
  world.pass(1'000);
  CHECK(world.me.status(reviewed) == "refund_pending");
  world.pass(3'000);
  CHECK(world.me.status(reviewed) == "refunded");
}

TEST_CASE("a payer gets back at most what was collected, without an excess") {
  World world;
  // Of 10,000 KES: 9,000 were paid, which credit (9,000 - 110) x 0.0075; or 11,000.
  const std::string under = world.paid("000001501");
  REQUIRE(world.funds() == "66.675/66.675/0.00");
  CHECK(world.reverse(under, {{"amount", "9000.01"}}).slug() == "reversal-exceeds-payment");
  REQUIRE(world.reverse(under).status == 202);
  world.pass(500);
  CHECK(world.refund(under).at("amount") == "9000.00");
  CHECK(world.funds() == "0.00/0.00/0.00");
  const std::string over = world.paid("000001502");
  CHECK(world.reverse(over, {{"amount", "10000.01"}}).slug() == "reversal-exceeds-payment");
  REQUIRE(world.reverse(over).status == 202);
  world.pass(500);
  CHECK(world.refund(over).at("amount") == "10000.00");
  CHECK(world.funds() == "0.00/0.00/0.00");
}

TEST_CASE("no part of an on-ramp leaves a rest that is worth nothing") {
  World world;
  auto low = collection_connector();
  low.terms.min_amount = amount("1");
  world.connector = add_connector(world.app, low);
  const std::string id = world.paid();
  // 0.01 KES is worth 0.0000741750 USDC; of three such parts, the wallet gives the rounded sum.
  REQUIRE(world.reverse(id, {{"amount", "9999.99"}}).status == 202);
  world.pass(500);
  CHECK(world.funds() == "0.0000741/0.0000741/0.00");
  REQUIRE(world.reverse(id, {{"amount", "0.01"}}).status == 202);
  world.pass(500);
  CHECK(world.funds() == "0.00/0.00/0.00");
  // Of 10.12 KES, 10.11 are the fee: 0.01 KES is worth 0.00000007 USDC.
  const std::string small = world.paid("1234567890", "10.12");
  REQUIRE(world.funds() == "0.000075/0.000075/0.00");
  const Reply most = world.reverse(small, {{"amount", "10.11"}});
  CHECK(most.slug() == "validation-failed");
  CHECK_THAT(most.text(), Catch::Matchers::Contains("all that is left"));
  REQUIRE(world.reverse(small).status == 202);
  world.pass(500);
  CHECK(world.funds() == "0.00/0.00/0.00");
}

TEST_CASE("the reversal of an on-ramp is checked like another, and a validation moves nothing") {
  World world;
  const std::string id = world.paid();
  const std::string other = world.app.wallet("USDC");
  const auto slug = [&](const Json& more) { return world.reverse(id, more).slug(); };
  CHECK(slug({{"amount", "0.001"}}) == "amount-precision");
  CHECK(slug({{"amount", "10000.01"}}) == "reversal-exceeds-payment");
  CHECK(world.app.stranger()
            .post("/v1/payments/" + id + "/reversals", world.body(Json::object()))
            .status == 404);
  const Reply valid =
      world.me.post("/v1/payments/" + id + "/reversals/validate", world.body(Json::object()));
  CHECK(valid.status == 200);
  CHECK(world.me.status(id) == "succeeded");
  CHECK(world.funds() == "74.175/74.175/0.00");
  // Spent: the wallet lacks a part.
  world.me.pay("/v1/payments/p2p/own", transfer_body(world.wallet, other, "44.6"));
  world.app.settle();
  CHECK(slug({{"amount", "4000"}}) == "insufficient-funds");
  CHECK(world.reverse(id, {{"amount", "3987.19"}}).status == 202);
  CHECK(slug({{"amount", "1"}}) == "conflict");
  const std::string open = world.me.pay(
      "/v1/payments/onramp",
      collection_body(collection_quote(world.me, world.connector), world.wallet, "1201"));
  world.pass(500);
  CHECK(world.reverse(open).slug() == "conflict");
  // A wallet under review neither sends nor receives.
  world.wallet = world.me.third_party_wallet("USDC");
  world.me.send({"POST", "/v1/sandbox/wallets/" + world.wallet + "/verify", {}, {}});
  const std::string reviewed = world.paid();
  world.me.put("/v1/wallets/" + world.wallet, {{"metadata", person("Kamau")}});
  CHECK(world.reverse(reviewed).slug() == "wallet-not-verified");
}

TEST_CASE("a verification in rounds follows refunds that wait, fail and succeed") {
  World world;
  const std::string first = world.paid("000001601"), second = world.paid("000001601");
  store::Verification verification;
  const auto verify = [&] {
    while (!world.read([&](store::Connection& db) { return verification.slice(db, 1'000, 60'000); })
                .round_over) {
    }
    for (const store::Violation& violation : verification.violations()) {
      FAIL_CHECK(violation.invariant << ": " << violation.detail);
    }
  };
  verify();
  for (const char* result : {"fail?code=account_closed", "succeed", "fail?code=account_closed"}) {
    for (const std::string& id : {first, second}) {
      REQUIRE(world.reverse(id, {{"amount", "100"}}).status == 202);
    }
    verify();
    world.pass(250);
    CHECK(world.decide(first, result) == 200);
    verify();
    CHECK(world.decide(second, result) == 200);
    verify();
  }
  CHECK(world.way(first).size() == 9);
}

TEST_CASE("a paused connector still gives money back") {
  World world;
  const std::string id = world.paid();
  pause_connector(world.app, world.connector);
  REQUIRE(world.reverse(id).status == 202);
  world.pass(500);
  CHECK(world.me.status(id) == "refunded");
}

TEST_CASE("an operator reverses an on-ramp through its provider too") {
  World world;
  const std::string id = world.paid();
  const flows::Reversal reversal{*PaymentId::parse(id), "op-1", amount("2500"), "Agreed"};
  REQUIRE(flows::reverse_for_operator(world.app.flows(), reversal));
  REQUIRE(flows::reverse_for_operator(world.app.flows(), reversal)->replayed);
  world.pass(500);
  CHECK(world.refund(id).at("amount") == "2500.00");
  CHECK(world.calls(id) == Ways{"collect", "collection_status", "refund"});
}

TEST_CASE("a customer payment on a reference is given back") {
  Desk desk;
  flows::NewConnector issuing = collection_connector();
  issuing.terms.flow = ConnectorFlow::bespoke;
  issuing.terms.issues_references = true;
  const std::string connector = add_connector(desk.app, issuing);
  const std::string account = desk.me.get("/v1/wallets/" + desk.wallet).json().at("publicKey");
  const Reply reference = desk.me.post(
      "/v1/onramp/references",
      {{"connectorId", connector}, {"settlementAccount", account}, {"customerId", "customer-1"}});
  REQUIRE(reference.status == 201);
  const std::string path =
      "/v1/sandbox/references/" + reference.json().at("reference").get<std::string>() + "/pay";
  REQUIRE(desk.me.post(path, {{"amount", "10000"}}).status == 202);
  desk.pass(500);
  const std::string id =
      desk.me.all("/v1/transactions?type=onramp_reference").at(0).at("transactionRecordId");
  REQUIRE(desk.funds() == "74.175/74.175/0.00");
  REQUIRE(desk.reverse(id, {{"amount", "4000"}}).status == 202);
  desk.pass(500);
  CHECK(desk.me.status(id) == "refunded");
  CHECK(desk.funds() == "44.505/44.505/0.00");
}

// At a separate provider -------------------------------------------------------------------------

namespace {

/// A provider that collects immediately, and answers about refunds as the test chooses.
struct Abroad : Desk {
  struct Call {
    std::string line;  // method and path
    Json body;
  };
  Mutex mutex;
  std::vector<Json> says
      COFFER_GUARDED_BY(mutex);  // the next replies about refunds; the last stays
  std::vector<Call> heard COFFER_GUARDED_BY(mutex);
  std::function<void()> meanwhile = [] {};  // runs while a refund is submitted
  http::test::RunningServer provider{{},
                                     [this](http::Request& request) { return answer(request); }};
  std::string connector = add_connector(app, [&] {
    flows::NewConnector out = collection_connector();
    out.terms.driver = DriverKind::http;
    out.terms.endpoint = ProviderEndpoint{"http://127.0.0.1:" + std::to_string(provider.port()),
                                          Secret("shared"), 5'000};
    return out;
  }());

  http::Response answer(const http::Request& request) {
    http::Response out;
    if (request.path == "/quotes") {
      out.body = R"({"sendAmount":"10000","receiveAmount":"74.175","fee":"110","rate":"0.0075"})";
      return out;
    }
    const bool asks = request.method == "GET";
    const Json sent = asks ? Json::object() : Json::parse(request.body);
    Json body{{"status", "collected"}};
    if (request.path.starts_with("/refunds")) {
      if (!asks) meanwhile();
      const Lock lock(mutex);
      heard.push_back({request.method + " " + request.path.substr(0, 9), sent});
      body = says.front();
      if (says.size() > 1) says.erase(says.begin());
    }
    out.status = body.value("http", 200);
    body.erase("http");
    body["id"] =
        asks ? request.path.substr(request.path.rfind('/') + 1) : sent.at("id").get<std::string>();
    out.body = body.dump();
    return out;
  }
  void say(std::vector<Json> replies) {
    const Lock lock(mutex);
    says = std::move(replies);
    heard.clear();
  }
  std::vector<Call> calls_heard() {
    const Lock lock(mutex);
    return heard;
  }
  Ways lines() {
    Ways out;
    for (const Call& call : calls_heard()) out.push_back(call.line);
    return out;
  }
  std::string paid() {
    const std::string id = me.pay("/v1/payments/onramp",
                                  collection_body(collection_quote(me, connector), wallet, "0123"));
    pass(1'000);
    REQUIRE(me.status(id) == "succeeded");
    return id;
  }
  /// The ID of the refund that began last.
  std::optional<RefundId> last_refund(const std::string& id) {
    return read([&](store::Connection& db) {
      const auto rows = store::refunds_of(db, *store::payment_key(db, *PaymentId::parse(id)));
      return rows.empty() ? std::nullopt : rows.back().id;
    });
  }
  std::string resolve(const std::string& id, Resolution as, std::optional<RefundId> refund) {
    const auto done = flows::resolve_payment(app.flows(), *PaymentId::parse(id),
                                             {as, "op", "statement", {}, refund});
    return done ? "done" : done.error().detail;
  }
  std::string resolve(const std::string& id, Resolution as) {
    return resolve(id, as, last_refund(id));
  }
  void call_back(const char* type, const Json& data) {
    const std::string body = Json{{"id", "cb"}, {"type", type}, {"data", data}}.dump();
    const std::string path = "/v1/providers/" + connector + "/callbacks";
    HttpCall call{"POST", path, {}, body};
    for (const auto& [name, value] :
         outbound::sign(Secret("shared"), app.clock.now(), {"POST", path, body})) {
      call.headers.emplace_back(name, value);
    }
    CHECK(app.anonymous().send(call).status == 200);
  }
};

const Json kDone{{"status", "succeeded"}};
const Json kWaits{{"status", "pending"}};
const Json kLost{{"http", 502}};
const Json kNever{{"http", 404}, {"code", "refund_not_found"}};
const Json kNoRoute{{"http", 404}, {"code", "no_such_route"}};

}  // namespace

TEST_CASE("a refund is one request with everything the provider needs") {
  Abroad world;
  world.say({kDone});
  const std::string id = world.paid();
  REQUIRE(world.reverse(id, {{"amount", "4000"}}).status == 202);
  world.pass(500);
  CHECK(world.me.status(id) == "refunded");
  REQUIRE(world.calls_heard().size() == 1);
  Json body = world.calls_heard().front().body;
  CHECK(RefundId::parse(body.at("id").get<std::string>()));
  CHECK(body.at("id") != id);
  body.erase("id");
  CHECK(body == Json{{"connectorId", world.connector},
                     {"collectionId", id},
                     {"amount", "4000.00"},
                     {"currencyIsoCode3", "KES"},
                     {"payer",
                      {{"name", "Joseph Mwangi"},
                       {"accountNumber", "0123"},
                       {"details", {{"accountNumber", "0123"}}}}},
                     {"reason", "Ordered twice"}});
}

TEST_CASE(
    "an unknown outcome of a refund is queried, and only one that never arrived is repeated") {
  struct Case {
    std::vector<Json> says;
    Ways heard;
    const char* ends;
  };
  const std::string post = "POST /refunds", get = "GET /refunds/";
  const Json failed{{"status", "failed"}, {"failure", {{"code", "account_closed"}}}};
  const Json rejected{{"http", 422}, {"code", "account_closed"}};
  for (const auto& [says, heard, ends] : std::vector<Case>{
           {{kLost, kDone}, {post, get}, "refunded"},
           {{kLost, kNever, kDone}, {post, get, post}, "refunded"},
           {{kLost, kNoRoute, kLost, kDone}, {post, get, get, get}, "refunded"},
           {{kWaits, kNever, kDone}, {post, get, get}, "refunded"},
           {{kWaits, failed}, {post, get}, "refund_failed"},
           {{rejected}, {post}, "refund_failed"},
           {{Json{{"http", 409}, {"code", "id_conflict"}}, kDone}, {post, get}, "refunded"},
           {{Json{{"status", "succeeded"}, {"amount", "1.00"}}, kDone}, {post, get}, "refunded"},
           {{Json{{"status", "done"}}, kDone}, {post, get}, "refunded"},
           {{Json{{"status", "succeeded"}, {"failure", {{"code", "account_closed"}}}}, kDone},
            {post, get},
            "refunded"}}) {
    Abroad world;
    world.say(says);
    const std::string id = world.paid();
    REQUIRE(world.reverse(id).status == 202);
    world.pass(10'000);
    INFO(says.front().dump());
    CHECK(world.me.status(id) == ends);
    CHECK(world.lines() == heard);
    const bool back = std::string(ends) == "refunded";
    CHECK(world.funds() == (back ? "0.00/0.00/0.00" : "74.175/74.175/0.00"));
    std::set<std::string> ids;
    for (const auto& call : world.calls_heard()) {
      if (!call.body.empty()) ids.insert(call.body.at("id"));
    }
    CHECK(ids.size() == 1);
  }
}

TEST_CASE("callbacks about a refund are hints, and late ones about its collection change nothing") {
  Abroad world;
  world.say({kWaits});
  const std::string id = world.paid();
  REQUIRE(world.reverse(id).status == 202);
  world.pass(120'000);  // the next query is minutes away
  const std::string refund = world.calls_heard().front().body.at("id");
  world.say({kDone});
  world.call_back("refund.updated", {{"id", world.connector}, {"status", "succeeded"}});
  world.pass(250);
  CHECK(world.lines().empty());
  world.call_back("refund.updated", {{"id", refund}, {"status", "failed"}});
  world.pass(250);
  CHECK(world.me.status(id) == "refunded");
  for (const char* status : {"collected", "pending"}) {
    world.call_back("collection.updated", {{"id", id}, {"status", status}});
  }
  for (const char* status : {"succeeded", "pending"}) {
    world.call_back("refund.updated", {{"id", refund}, {"status", status}});
  }
  world.pass(1'000);
  CHECK(world.lines() == Ways{"GET /refunds/"});
  CHECK(world.me.status(id) == "refunded");
  CHECK(world.read([](store::Connection& db) {
    return store::count_open_items(db, OpenItem::contradicted, 100);
  }) == 0);
}

TEST_CASE("a response about an earlier refund does not end a later one") {
  Abroad world;
  world.say({kDone});
  const std::string id = world.paid();
  bool first = true;
  world.meanwhile = [&] {
    if (!std::exchange(first, false)) return;
    CHECK(world.decide(id, "fail?code=account_closed") == 200);
    CHECK(world.reverse(id, {{"amount", "100"}}).status == 202);
    world.say({kDone, kWaits});
  };
  REQUIRE(world.reverse(id).status == 202);
  world.app.settle();
  world.pass(1'000);
  CHECK(world.me.status(id) == "refund_pending");
  CHECK(world.funds() == "74.175/73.43325/0.74175");
  world.say({kDone});
  world.pass(10'000);
  CHECK(world.me.status(id) == "refunded");
  CHECK(world.refund(id).at("amount") == "100.00");
}

TEST_CASE("an operator ends a refund about which the provider never responds") {
  for (const auto& [as, ends] : std::vector<std::pair<Resolution, const char*>>{
           {Resolution::refunded, "refunded"}, {Resolution::failed, "refund_failed"}}) {
    Abroad world;
    world.say({kLost});
    const std::string id = world.paid();
    REQUIRE(world.reverse(id).status == 202);
    world.pass(10'000);
    REQUIRE(world.me.status(id) == "refund_pending");
    for (const Resolution other :
         {Resolution::succeeded, Resolution::returned, Resolution::unchanged}) {
      CHECK(world.resolve(id, other) != "done");
    }
    CHECK(world.resolve(id, as) == "done");
    CHECK(world.me.status(id) == ends);
    const bool back = as == Resolution::refunded;
    CHECK(world.funds() == (back ? "0.00/0.00/0.00" : "74.175/74.175/0.00"));
    CHECK(world.resolve(id, Resolution::refunded) != "done");
    const auto asked = world.lines().size();
    world.pass(10'000);
    CHECK(world.lines().size() == asked);
  }
}

TEST_CASE("a refund is as old as itself, not as its payment, and its IDs find the payment") {
  Abroad world;
  world.say({kWaits});
  const std::string id = world.paid();
  world.app.clock.advance_ms(3 * kHourMs);
  const Json body = world.body(Json::object());
  REQUIRE(world.me.post("/v1/payments/" + id + "/reversals", body).status == 202);
  const Timestamp began = world.app.clock.now();
  const auto stuck = [&](Timestamp before) {
    return world.read(
        [&](store::Connection& db) { return store::payments_in_progress_since(db, before); });
  };
  CHECK(stuck(began) == 0);
  CHECK(stuck(began.plus_ms(1)) == 1);
  const auto backlog = world.read([](store::Connection& db) { return store::read_backlog(db); });
  CHECK(backlog.oldest_unsettled == began);
  const std::map<std::string, std::string> finds{{body.at("transactionId"), "reversal"},
                                                 {world.last_refund(id)->to_string(), "refund"}};
  for (const auto& [text, how] : finds) {
    const auto found = world.read(
        [&](store::Connection& db) { return store::find_payments(db, text, {.limit = 5}).found; });
    REQUIRE(found.size() == 1);
    CHECK(name(found.front().how) == how);
  }
}

TEST_CASE("a decision about a refund names it, so that it cannot end the next one") {
  Abroad world;
  world.say({kWaits});
  const std::string id = world.paid();
  REQUIRE(world.reverse(id, {{"amount", "100"}}).status == 202);
  world.pass(500);
  const auto first = world.last_refund(id);
  CHECK_THAT(world.resolve(id, Resolution::failed, std::nullopt),
             Catch::Matchers::Contains("--refund " + first->to_string()));
  world.say({kDone});
  world.pass(10'000);
  REQUIRE(world.me.status(id) == "refunded");
  world.say({kWaits});
  REQUIRE(world.reverse(id, {{"amount", "900"}}).status == 202);
  world.pass(500);
  CHECK(world.resolve(id, Resolution::failed, first) != "done");
  CHECK(world.me.status(id) == "refund_pending");
}

TEST_CASE(
    "a provider that contradicts the end of a refund stops reversals until an operator decides") {
  Abroad world;
  world.say({kWaits});
  const std::string id = world.paid();
  REQUIRE(world.reverse(id, {{"amount", "100"}}).status == 202);
  world.pass(500);
  const auto refund = world.last_refund(id);
  REQUIRE(world.resolve(id, Resolution::failed) == "done");
  const std::string text = refund->to_string();
  world.call_back("refund.updated", {{"id", text}, {"status", "failed"}});
  CHECK(world.resolve(id, Resolution::refunded, refund) != "done");  // not contradicted
  world.call_back("refund.updated", {{"id", text}, {"status", "succeeded"}});
  CHECK(world.reverse(id).slug() == "conflict");
  CHECK(world.resolve(id, Resolution::refunded, std::nullopt) != "done");
  REQUIRE(world.resolve(id, Resolution::refunded, refund) == "done");
  CHECK(world.me.status(id) == "refunded");
  CHECK(world.refund(id).at("amount") == "100.00");
  CHECK(world.funds() == "73.43325/73.43325/0.00");
  // A repeated report changes nothing, and the refund is not booked twice.
  world.call_back("refund.updated", {{"id", text}, {"status", "succeeded"}});
  CHECK(world.resolve(id, Resolution::refunded, refund) != "done");
  // Another change of mind is left to the operator too.
  world.call_back("refund.updated", {{"id", text}, {"status", "failed"}});
  CHECK(world.reverse(id).slug() == "conflict");
  CHECK(world.resolve(id, Resolution::refunded, refund) != "done");
  REQUIRE(world.resolve(id, Resolution::unchanged, std::nullopt) == "done");
  world.say({kDone});
  REQUIRE(world.reverse(id).status == 202);
  world.pass(500);
  CHECK(world.funds() == "0.00/0.00/0.00");
  // Of a refund that was booked, the contradiction can only be noted.
  world.call_back("refund.updated",
                  {{"id", world.last_refund(id)->to_string()}, {"status", "failed"}});
  CHECK(world.resolve(id, Resolution::unchanged, std::nullopt) == "done");
}

TEST_CASE("a refund goes to the provider that collected, also after its connector has moved") {
  Abroad world;
  world.say({kDone});
  const std::string id = world.paid();
  REQUIRE(flows::set_connector_endpoint(world.app.flows(), *ConnectorId::parse(world.connector),
                                        {"http://127.0.0.1:1", {}, true}));
  REQUIRE(world.reverse(id).status == 202);
  world.pass(500);
  CHECK(world.me.status(id) == "refunded");
  CHECK(world.lines() == Ways{"POST /refunds"});
}

TEST_CASE("a refund survives a restart after its submission") {
  Abroad world;
  world.say({kLost, kWaits});
  const std::string id = world.paid();
  REQUIRE(world.reverse(id).status == 202);
  world.app.settle();
  world.app.restart();
  CHECK(world.funds() == "74.175/0.00/74.175");
  world.pass(10'000);
  CHECK(world.me.status(id) == "refund_pending");
  world.say({kDone});
  world.app.restart();
  world.pass(600'000);
  CHECK(world.me.status(id) == "refunded");
  CHECK(world.lines() == Ways{"GET /refunds/"});
}

}  // namespace onramp_reversals_test
