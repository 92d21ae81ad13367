// POST /v1/providers/{connectorId}/callbacks: signed callbacks, and invalid ones.
#include <atomic>
#include <catch2/catch.hpp>
#include <sstream>

#include "outbound/providers/provider_signature.h"
#include "route_samples.h"
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
    return send_raw(world.app.core().port(), bytes).status;
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
  CHECK(patched(R"({"data":{"currencyIsoCode3":"EUR"}})").status == 422);
  CHECK(patched(R"({"data":{"reference":"REF-2"}})").status == 404);
  CHECK(world.call(world.path, "{").status == 400);
  const std::string nowhere = "/v1/providers/01890000-0000-7000-8000-000000000000/callbacks";
  CHECK(world.call(nowhere, paid("REF-1").dump()).status == 404);
  const std::string sandbox = "/v1/providers/" + add_connector(world.app) + "/callbacks";
  CHECK(world.call(sandbox, paid("REF-1").dump()).status == 404);
  CHECK(world.me.all("/v1/transactions").empty());
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
