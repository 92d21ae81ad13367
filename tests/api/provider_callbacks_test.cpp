// POST /v1/providers/{connectorId}/callbacks: signed callbacks, and invalid ones.
#include <atomic>
#include <catch2/catch.hpp>
#include <sstream>

#include "flows/providers/arrivals.h"
#include "flows/settlement/resolve_payment.h"
#include "outbound/providers/provider_signature.h"
#include "route_samples.h"
#include "store/providers/arrivals.h"
#include "store/providers/provider_payments.h"
#include "support/connectors.h"
#include "support/recipients.h"
#include "support/scenario.h"
#include "support/test_app.h"
#include "support/wire.h"
#include "unit/http/running_server.h"

using namespace coffer;
using namespace coffer::test;

namespace provider_callbacks_test {
namespace {

struct World {
  TestApp app;
  const Client& me = app.me();
  std::string wallet = app.wallet("USDC");
  std::string connector = add_connector(app, bespoke());
  std::string path = "/v1/providers/" + connector + "/callbacks";

  static flows::NewConnector bespoke() {
    flows::NewConnector out = collection_connector();
    out.terms.flow = ConnectorFlow::bespoke;
    out.terms.issues_references = true;
    out.terms.driver = DriverKind::http;
    out.terms.endpoint = ProviderEndpoint{"http://127.0.0.1:1/", Secret("shared"), 200};
    return out;
  }

  Reply call(const std::string& target, const std::string& body,
             const std::string& secret = "shared", std::int64_t skew_ms = 0) {
    HttpCall call{"POST", target, {}, body};
    for (const auto& [name, value] :
         outbound::sign(Secret(secret), app.clock.now().plus_ms(skew_ms), {"POST", target, body})) {
      call.headers.emplace_back(name, value);
    }
    return app.anonymous().send(call);
  }
  Reply call(const Json& body) { return call(path, body.dump()); }
  Names names() const { return {{"wallet", wallet}, {"provider", connector}}; }
};

std::string hexadecimal(std::size_t size) {
  std::ostringstream out;
  out << std::hex << size;
  return out.str();
}

Json paid(const std::string& reference, const char* payment = "pp-1") {
  return {{"id", "cb-1"},
          {"type", "reference.paid"},
          {"data",
           {{"providerPaymentId", payment},
            {"reference", reference},
            {"amount", "10000"},
            {"currencyIsoCode3", "KES"},
            {"payer", {{"name", "Joseph Mwangi"}, {"accountNumber", "001"}}},
            {"paidAt", "2026-01-01T00:00:00Z"}}}};
}

}  // namespace

TEST_CASE("a payment on a reference is credited once, however often it is reported") {
  World world;
  issue_reference(world.app, world.names(), "REF-1");
  for (int i = 0; i < 3; ++i) {
    const Reply reply = world.call(paid("REF-1"));
    INFO(reply.text());
    CHECK(reply.status == 200);
    CHECK(reply.json().at("received") == true);
  }
  world.app.settle();
  CHECK(world.me.balance(world.wallet, "USDC") == "74.175");
  const auto records = world.me.all("/v1/transactions?type=onramp_reference");
  REQUIRE(records.size() == 1);
  CHECK(records[0].at("providerReference") == "pp-1");
  CHECK(world.call("/gw" + world.path, paid("REF-1", "pp-2").dump()).status == 200);
  world.app.settle();
  CHECK(world.me.balance(world.wallet, "USDC") == "148.35");
}

TEST_CASE("a callback that arrives in chunks is verified over its decoded body") {
  World world;
  issue_reference(world.app, world.names(), "REF-1");
  world.app.listen();
  const auto send = [&](const std::string& body, const std::string& last) {
    std::string bytes =
        "POST " + world.path +
        " HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Type: application/json\r\n"
        "Transfer-Encoding: chunked\r\n";
    for (const auto& [name, value] :
         outbound::sign(Secret("shared"), world.app.clock.now(), {"POST", world.path, body})) {
      bytes += name + ": " + value + "\r\n";
    }
    const std::string first = body.substr(0, body.size() - 1);
    bytes += "\r\n" + hexadecimal(first.size()) + "\r\n" + first + "\r\n" +
             hexadecimal(last.size()) + "\r\n" + last + "\r\n0\r\n\r\n";
    return send_raw(world.app.core().listeners().port(), bytes).status;
  };
  CHECK(send(paid("REF-1").dump(), "}") == 200);
  CHECK(send(paid("REF-1", "pp-2").dump(), "} ") == 401);
  CHECK(world.me.all("/v1/transactions?type=onramp_reference").size() == 1);
}

TEST_CASE("an unsigned callback is rejected") {
  World world;
  issue_reference(world.app, world.names(), "REF-1");
  const std::string body = paid("REF-1").dump();
  CHECK(world.app.anonymous().send({"POST", world.path, {}, body}).status == 401);
  CHECK(world.call(world.path, body, "guessed").status == 401);
  CHECK(world.call(world.path, body, "shared", 301'000).status == 401);
  CHECK(world.call(world.path, body, "shared", -301'000).status == 401);
  // Signed for another path, or another body.
  HttpCall other{"POST", world.path, {}, body};
  for (const auto& [name, value] :
       outbound::sign(Secret("shared"), world.app.clock.now(), {"POST", "/v1/other", body})) {
    other.headers.emplace_back(name, value);
  }
  CHECK(world.app.anonymous().send(other).status == 401);
  world.app.settle();
  CHECK(world.me.balance(world.wallet, "USDC") == "0.00");
}

TEST_CASE("invalid signed callbacks are rejected and change nothing") {
  World world;
  issue_reference(world.app, world.names(), "REF-1");
  const auto patched = [&](const std::string& patch) {
    Json json = paid("REF-1");
    json.merge_patch(Json::parse(patch));
    return world.call(json);
  };
  CHECK(patched(R"({"type":"weather.changed"})").status == 400);
  CHECK(patched(R"({"data":null})").status == 400);
  CHECK(patched(R"({"data":{"amount":null}})").status == 400);
  CHECK(patched(R"({"data":{"amount":"-1"}})").slug() == "amount-out-of-range");
  CHECK(patched(R"({"data":{"amount":"0"}})").slug() == "amount-out-of-range");
  CHECK(patched(R"({"data":{"amount":"1e3"}})").status == 400);
  CHECK(patched(R"({"data":{"amount":"much"}})").status == 400);
  CHECK(patched(R"({"data":{"currencyIsoCode3":"E U"}})").status == 400);
  CHECK(patched(R"({"data":{"providerPaymentId":" "}})").status == 400);
  CHECK(world.call(world.path, "{").status == 400);
  const std::string nowhere = "/v1/providers/01890000-0000-7000-8000-000000000000/callbacks";
  CHECK(world.call(nowhere, paid("REF-1").dump()).status == 404);
  const std::string sandbox = "/v1/providers/" + add_connector(world.app) + "/callbacks";
  CHECK(world.call(sandbox, paid("REF-1").dump()).status == 404);
  CHECK(world.me.all("/v1/transactions").empty());
}

TEST_CASE(
    "money that arrives is never refused, and what cannot be credited is left to an operator") {
  World world;
  issue_reference(world.app, world.names(), "REF-1");
  struct Case {
    std::string patch;  // of the report's data
    std::string failure;
    std::string shown;  // sendingAmount and sendingAssetCode
  };
  const std::string late = R"({"amount":")", end = R"("})";
  const std::vector<Case> cases{
      {late + "5" + end, "underpaid", "5.00 KES"},  // the fee is 10 KES and 1 %
      {late + "10.10" + end, "underpaid", "10.10 KES"},
      {R"({"amount":5})", "underpaid", "5.00 KES"},
      {R"({"currencyIsoCode3":"EUR"})", "wrong_currency", "10000.00 EUR"},
      {R"({"currencyIsoCode3":"EUR","amount":"0.001"})", "wrong_currency", "0.001 EUR"},
      {late + "10000.001" + end, "amount_precision", "10000.001 KES"},
      {late + "10000.123456789" + end, "amount_precision", "10000.1234567 KES"},
      {late + "0.0000001" + end, "amount_precision", "0.0000001 KES"},
      {R"({"payer":{"name":")" + std::string(4'000, 'x') + R"("},"amount":"5"})", "underpaid",
       "5.00 KES"},
  };
  int number = 0;
  for (const Case& each : cases) {
    INFO(each.patch.substr(0, 100));
    Json report = paid("REF-1", ("pp-" + std::to_string(++number)).c_str());
    report["data"].merge_patch(Json::parse(each.patch));
    for (int i = 0; i < 2; ++i) REQUIRE(world.call(report).json().at("received") == true);
    world.app.settle();
    const auto records = world.me.all("/v1/transactions?type=onramp_reference");
    REQUIRE(records.size() == static_cast<std::size_t>(number));
    const Json& record = records[0];
    CHECK(record.at("status") == "failed");
    CHECK(record.at("statusReason").at("code") == each.failure);
    CHECK(record.at("sendingAmount").get<std::string>() + " " +
              record.at("sendingAssetCode").get<std::string>() ==
          each.shown);
    CHECK(record.at("toRef") == "REF-1");
    CHECK_FALSE(record.contains("receivingAmount"));
    CHECK(store::with_reader(world.app.core().database(), [&](store::Connection& db) {
            return store::count_open_items(db, OpenItem::unbooked, 100);
          }).value() == number);
  }
  CHECK(world.me.balance(world.wallet, "USDC") == "0.00");
  const auto events = world.me.all("/v1/events?type=payment.failed");
  CHECK(events.size() == cases.size());
}

TEST_CASE("an arrival without a known reference waits for an operator, and is assigned once") {
  World world;
  issue_reference(world.app, world.names(), "REF-1");
  const auto open = [&] {
    return store::with_reader(world.app.core().database(),
                              [&](store::Connection& db) {
                                return store::list_arrivals(db, false, {{}, 100}).rows;
                              })
        .value();
  };
  Json huge = paid("REF-1", "pp-huge");
  huge["data"]["amount"] = "99999999999999";
  for (const Json& report : {paid("REF-2", "pp-1"), paid("", "pp-2"), huge}) {
    for (int i = 0; i < 2; ++i) CHECK(world.call(report).status == 200);
  }
  REQUIRE(open().size() == 3);
  CHECK(world.me.all("/v1/transactions").empty());
  const auto& flows = world.app.flows();
  const auto last = open();
  CHECK(flows::assign_arrival(flows, last[0].id, "REF-1", "r").error().slug == Slug::conflict);
  CHECK(flows::assign_arrival(flows, last[2].id, "REF-9", "r").error().slug == Slug::not_found);
  REQUIRE(flows::assign_arrival(flows, last[2].id, "REF-1", "r"));
  CHECK(flows::assign_arrival(flows, last[2].id, "REF-1", "r").error().slug == Slug::conflict);
  world.app.settle();
  CHECK(world.me.balance(world.wallet, "USDC") == "74.175");
  // The provider repeats its first report; then it corrects the second one.
  CHECK(world.call(paid("REF-2", "pp-1")).status == 200);
  CHECK(world.call(paid("REF-1", "pp-2")).status == 200);
  world.app.settle();
  CHECK(world.me.balance(world.wallet, "USDC") == "148.35");
  REQUIRE(open().size() == 1);
  REQUIRE(flows::return_arrival(flows, open()[0].id));
  CHECK(open().empty());
  CHECK(world.call(huge).status == 200);
  CHECK(open().empty());
}

TEST_CASE(
    "different reports of a payment without a record credit nothing before an operator acts") {
  World world;
  const auto open = [&] {
    return store::with_reader(world.app.core().database(),
                              [&](store::Connection& db) {
                                return store::list_arrivals(db, false, {{}, 100}).rows;
                              })
        .value();
  };
  const Json first = paid("REF-1", "pp-1");
  Json second = first;
  second["data"]["amount"] = "20000";
  for (const Json& report : {first, second, first}) CHECK(world.call(report).status == 200);
  CHECK(open().size() == 2);
  issue_reference(world.app, world.names(), "REF-1");
  for (const Json& report : {second, first}) CHECK(world.call(report).status == 200);
  world.app.settle();
  CHECK(open().size() == 2);
  CHECK(world.me.balance(world.wallet, "USDC") == "0.00");
  const auto& flows = world.app.flows();
  const auto rows = open();  // the newest first
  REQUIRE(flows::assign_arrival(flows, rows[1].id, "REF-1", "r"));
  CHECK(flows::assign_arrival(flows, rows[0].id, "REF-1", "r").error().slug == Slug::conflict);
  REQUIRE(flows::return_arrival(flows, rows[0].id));
  for (const Json& report : {second, first}) CHECK(world.call(report).status == 200);
  world.app.settle();
  CHECK(open().empty());
  CHECK(world.me.balance(world.wallet, "USDC") == "74.175");
}

TEST_CASE("a callback may have members of any length and texts that only describe the payment") {
  World world;
  issue_reference(world.app, world.names(), "REF-1");
  Json report = paid("REF-1");
  report["data"]["note"] = std::string(20'000, 'n');
  report["data"]["payer"]["name"] = std::string(20'000, 'p');
  CHECK(world.call(report).status == 200);
  world.app.settle();
  CHECK(world.me.balance(world.wallet, "USDC") == "74.175");
  CHECK(world.call(paid(std::string(20'000, 'r').c_str(), "pp-long")).status == 200);
  CHECK(store::with_reader(world.app.core().database(), [](store::Connection& db) {
          return store::count_open_arrivals(db, 9);
        }).value() == 1);
}

TEST_CASE("an operator credits at most what the arrived money is worth") {
  World world;
  issue_reference(world.app, world.names(), "REF-1");
  const auto resolve = [&](const char* amount) {
    const Json record = world.me.all("/v1/transactions?type=onramp_reference")[0];
    flows::ManualResult result{flows::Resolution::succeeded, "op", "statement"};
    result.amount = test::amount(amount);
    return flows::resolve_payment(
               world.app.flows(),
               *PaymentId::parse(record.at("transactionRecordId").get<std::string>()), result)
        .has_value();
  };
  Json report = paid("REF-1");
  report["data"]["amount"] = "5";  // KES at 0.0075
  CHECK(world.call(report).status == 200);
  world.app.settle();
  CHECK_FALSE(resolve("1000000"));
  CHECK_FALSE(resolve("0.0375001"));
  CHECK(resolve("0.0375"));
  report["data"]["providerPaymentId"] = "pp-eur";
  report["data"]["currencyIsoCode3"] = "EUR";
  CHECK(world.call(report).status == 200);
  world.app.settle();
  CHECK_FALSE(resolve("1000000000"));
  CHECK(resolve("5"));
}

TEST_CASE("a payment that is reported again with other data is credited once and contradicted") {
  World world;
  issue_reference(world.app, world.names(), "REF-1");
  issue_reference(world.app, world.names(), "REF-2");
  const auto contradicted = [&] {
    return store::with_reader(world.app.core().database(),
                              [&](store::Connection& db) {
                                return store::count_open_items(db, OpenItem::contradicted, 100);
                              })
        .value();
  };
  CHECK(world.call(paid("REF-1")).status == 200);
  world.app.settle();
  CHECK(contradicted() == 0);
  Json other = paid("REF-1");
  other["data"]["amount"] = "20000";
  for (const Json& report : {other, paid("REF-2"), other}) CHECK(world.call(report).status == 200);
  CHECK(contradicted() == 1);
  world.app.settle();
  CHECK(world.me.balance(world.wallet, "USDC") == "74.175");
  CHECK(world.me.all("/v1/transactions?type=onramp_reference").size() == 1);
}

TEST_CASE("a provider's reference of any permitted length is kept, shown, found and exported") {
  World world;
  // Beyond the limit of fromRef and toRef, and with every kind of character.
  for (const std::string& reference :
       {std::string("VA 0042/7"), std::string(17, 'R'), std::string(35, 'R'), std::string(36, 'R'),
        std::string(kProviderReferenceMax, 'R'), [] {
          std::string text;
          for (std::size_t i = 0; i < kProviderReferenceMax; ++i) text += "\xc3\xa9";
          return text;
        }()}) {
    INFO(reference);
    issue_reference(world.app, world.names(), reference);
    REQUIRE(world.call(paid(reference, reference.c_str())).status == 200);
    world.app.settle();
    const auto found = world.me.all("/v1/transactions?reference=" + percent_encoded(reference));
    REQUIRE(found.size() == 1);
    CHECK(found[0].at("toRef") == reference);
    CHECK(found[0].at("providerReference") == reference);
    CHECK(found[0].at("description") == "Payment on " + reference);
    const std::string range =
        "?walletId=" + world.wallet + "&assetCode=USDC&startDate=2025-12-31&endDate=2027-01-01";
    const std::string statement = "/v1/statements/transactions";
    CHECK(world.me.all(statement + range).back().at("reference") == reference);
    for (const char* format : {"/csv", "/ndjson", "/camt.053"}) {
      INFO(format);
      CHECK(world.me.get(statement + format + range).text().find(reference) != std::string::npos);
    }
  }
}

TEST_CASE("callbacks about payments that are not in progress are accepted and change nothing") {
  World world;
  for (const char* type : {"payout.updated", "collection.updated"}) {
    for (const char* id : {"01890000-0000-7000-8000-000000000000", "not an id"}) {
      CHECK(world.call({{"id", "cb"}, {"type", type}, {"data", {{"id", id}}}}).status == 200);
    }
  }
}

TEST_CASE("a callback that arrives during a status request is not lost") {
  TestApp app;
  const std::string wallet = app.wallet("USDC", "1000");
  const std::string recipient = add_recipient(app.me());
  std::string callbacks;  // path
  std::atomic<int> questions = 0;
  // Pending until the callback, which comes during the first status request.
  const auto call_back = [&](const std::string& id) {
    const std::string body =
        Json{{"id", "cb-1"}, {"type", "payout.updated"}, {"data", {{"id", id}}}}.dump();
    HttpCall call{"POST", callbacks, {}, body};
    for (const auto& [name, value] :
         outbound::sign(Secret("shared"), app.clock.now(), {"POST", callbacks, body})) {
      call.headers.emplace_back(name, value);
    }
    CHECK(app.anonymous().send(call).status == 200);
  };
  http::test::RunningServer provider({}, [&](http::Request& request) {
    http::Response out;
    if (request.path == "/quotes") {
      out.body = R"({"sendAmount":"10","receiveAmount":"1295","fee":"0","rate":"129.5"})";
      return out;
    }
    const bool asks = request.method == "GET";
    const std::string id = asks ? request.path.substr(request.path.rfind('/') + 1)
                                : Json::parse(request.body).at("id").get<std::string>();
    const bool first = asks && ++questions == 1;
    if (first) call_back(id);
    out.body = Json{{"id", id}, {"status", asks && !first ? "succeeded" : "pending"}}.dump();
    return out;
  });
  const std::string connector =
      add_http_connector(app, "http://127.0.0.1:" + std::to_string(provider.port()), 5'000);
  callbacks = "/v1/providers/" + connector + "/callbacks";
  const std::string id = app.me().pay(
      "/v1/payments/offramp",
      cash_out_body(quote_for(app.me(), connector, recipient, "10"), wallet, recipient));
  app.settle();
  REQUIRE(questions == 0);
  app.clock.advance_ms(250);
  app.settle();
  CHECK(questions == 2);
  CHECK(app.me().status(id) == "succeeded");
}

}  // namespace provider_callbacks_test
