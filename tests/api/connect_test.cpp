// The Connect group: health, countries, assets, and quotes in two directions.
#include <catch2/catch.hpp>
#include <sstream>
#include <tuple>

#include "support/connectors.h"
#include "support/scenario.h"
#include "support/test_app.h"

using namespace coffer;
using namespace coffer::test;

namespace {
const std::string kSend = "/v1/connect-quotes/send";
const std::string kReceive = "/v1/connect-quotes/receive";
}  // namespace

TEST_CASE("health of the platform") {
  TestApp app;
  const Json health = app.me().get("/v1/connect-platform/health").json();
  CHECK(health.at("status") == "ok");
  CHECK(health.at("environment") == "sandbox");
  CHECK(health.at("time") == "2026-01-01T00:00:00.000Z");
  CHECK_FALSE(health.at("checks").empty());
}

TEST_CASE("countries with active connectors") {
  TestApp app;
  CHECK(app.me().get("/v1/connect-countries").json().at("data").empty());
  add_connector(app);
  add_connector(app, collection_connector());
  const std::string german = add_connector(app, [](ConnectorTerms& terms) {
    terms.country = "DE";
    terms.currency = "EUR";
    terms.method = PayMethod::bank;
  });
  const Json two = app.me().get("/v1/connect-countries").json();
  CHECK(two.at("hasMore") == false);
  REQUIRE(two.at("data").size() == 2);
  CHECK(two.at("data")[0].at("countryIsoCode3") == "DEU");
  CHECK(two.at("data")[1] == Json{{"countryIsoCode2", "KE"},
                                  {"countryIsoCode3", "KEN"},
                                  {"name", "Kenya"},
                                  {"currencies", {"KES"}},
                                  {"methods", {"MOMO"}},
                                  {"directions", {"OFF_RAMP", "ON_RAMP"}}});
  pause_connector(app, german);
  CHECK(app.me().get("/v1/connect-countries").json().at("data").size() == 1);
  CHECK(app.production().get("/v1/connect-countries").json().at("data").empty());
}

TEST_CASE("registered assets") {
  TestApp app;
  CHECK(app.me().get("/v1/connect-assets").json() == app.me().get("/v1/assets").json());
}

TEST_CASE("a directional quote responds with 402 on success, and no other route does") {
  TestApp app;
  const std::string id = add_connector(app);
  const Reply sent = app.me().post(kSend, {{"connectorId", id}, {"amount", "100"}});
  CHECK(sent.status == 402);
  CHECK(sent.header("X-Success-Convention") == "402");
  CHECK(sent.header("Content-Type") == "application/json");
  CHECK(sent.json().at("sendAmount") == "100.00");
  CHECK(sent.json().at("total") == "101.50");
  CHECK(sent.json().at("transactionType") == "B2C");
  const std::string quote_id = sent.json().at("quoteId");
  CHECK(app.me().get("/v1/quotes/" + quote_id).json() == sent.json());

  const Reply received = app.me().post(
      kReceive, {{"connectorId", id}, {"amount", "1000"}, {"transactionType", "b2b"}});
  CHECK(received.status == 402);
  CHECK(received.json().at("receiveAmount") == "1000.00");
  CHECK(received.json().at("sendAmount") == "7.7220078");  // 1000 / 129.5, up
  CHECK(received.json().at("transactionType") == "B2B");

  const std::string on_ramp = add_connector(app, collection_connector());
  const Json collected =
      app.me().post(kReceive, {{"connectorId", on_ramp}, {"amount", "7.35"}}).json();
  CHECK(collected.at("type") == "onramp");
  CHECK(collected.at("sendAmount") == "1000.00");
  CHECK(collected.at("receiveAmount") == "7.35");
  CHECK_FALSE(collected.contains("transactionType"));
}

TEST_CASE("a limit is named in the currency of the amount, and both ends of it are accepted") {
  TestApp app;
  const std::string payouts = add_connector(app);  // from 1 to 10,000 USDC
  const std::string collections =
      add_connector(app, collection_connector());  // from 100 to 1,000,000 KES
  // A fee and a rate that round.
  const std::string odd = add_connector(
      app,
      [](ConnectorTerms& terms) {
        terms.rate = {1, 3};
        terms.fee = {test::amount("0.01"), 7};
        terms.min_amount = test::amount("100.03");
      },
      collection_connector());
  const auto quote = [&](const std::string& route, const std::string& connector,
                         const std::string& amount) {
    return app.me().post(route, {{"connectorId", connector}, {"amount", amount}});
  };
  for (const auto& [route, connector, currency] :
       {std::tuple(kSend, payouts, "USDC"), std::tuple(kReceive, payouts, "KES"),
        std::tuple(kSend, collections, "KES"), std::tuple(kReceive, collections, "USDC"),
        std::tuple(kReceive, odd, "USDC")}) {
    INFO(route << " " << currency);
    for (const char* outside : {"0.01", "90000000"}) {
      const Reply reply = quote(route, connector, outside);
      INFO(reply.text());
      REQUIRE(reply.slug() == "amount-out-of-range");
      const std::string message = reply.json().at("errors")[0].at("message");
      CHECK(message.ends_with(std::string(" ") + currency + "."));
      std::istringstream words(message);  // amount must be from LEAST to MOST CURRENCY.
      std::string word, least, most;
      words >> word >> word >> word >> word >> least >> word >> most;
      CHECK(quote(route, connector, least).status == 402);
      CHECK(quote(route, connector, most).status == 402);
    }
  }
  CHECK(quote(kReceive, payouts, "100").json().at("errors")[0].at("message") ==
        "amount must be from 129.50 to 1295000.00 KES.");
}

TEST_CASE("rejected directional quotes") {
  TestApp app;
  const Names names{{"connector", add_connector(app)}};
  const auto row = [](const char* name, const std::string& target, const std::string& amount,
                      int status, const char* slug) {
    return Scenario{name, target, R"({"connectorId":"$connector","amount":)" + amount + "}", status,
                    slug};
  };
  run_scenarios(
      app.me(),
      {row("another direction", "/v1/connect-quotes/sideways", "1", 404, "not-found"),
       row("below the smallest", kSend, "0.5", 422, "amount-out-of-range"),
       row("gives less than the smallest", kReceive, "100", 422, "amount-out-of-range"),
       row("takes more than the largest", kReceive, "2000000", 422, "amount-out-of-range"),
       row("more than anything gives", kReceive, "900000000000", 422, "amount-out-of-range"),
       row("places of what is received", kReceive, "1000.005", 422, "amount-precision"),
       row("zero", kReceive, "0", 422, "amount-out-of-range"),
       {"nothing", kSend, "{}", 400, "malformed-request", {"amount", "connectorId"}}},
      names);
  const std::string bespoke = add_connector(
      app, [](ConnectorTerms& terms) { terms.flow = ConnectorFlow::bespoke; },
      collection_connector());
  CHECK(app.me().post(kSend, {{"connectorId", bespoke}, {"amount", "1000"}}).status == 422);
  pause_connector(app, names.at("connector"));
  CHECK(app.me().post(kSend, {{"connectorId", names.at("connector")}, {"amount", "1"}}).slug() ==
        "conflict");
}
