// Quotes: prices, fees, limits, and all rejections.
#include <catch2/catch.hpp>

#include "support/connectors.h"
#include "support/listener.h"
#include "support/scenario.h"
#include "support/test_app.h"

using namespace coffer;
using namespace coffer::test;

namespace quotes_test {
namespace {

const std::string kQuotes = "/v1/quotes";
const std::string kOnRamp = "/v1/quotes?type=onramp";

Json destination(const char* country = "KE", const char* currency = "KES") {
  return {{"method", "MOMO"},
          {"countryIsoCode2", country},
          {"currencyIsoCode3", currency},
          {"mobileMoney", {{"provider", "M-Pesa"}, {"phoneNumber", "+254712345678"}}}};
}

Json person_with(const Json& destinations) {
  return {{"individual", {{"firstName", "Amina"}, {"lastName", "Otieno"}}},
          {"paymentDestinations", destinations}};
}

Json company_with(const Json& destinations) {
  return {{"business", {{"companyName", "Kahawa Ltd"}}}, {"paymentDestinations", destinations}};
}

Json beneficiary(const Client& client, const Json& body) {
  const Reply reply = client.post("/v1/beneficiaries", body);
  INFO(reply.text());
  REQUIRE(reply.status == 201);
  return reply.json();
}

Json by_type(const std::string& connector, const std::string& amount, const char* type = "B2C") {
  return {{"connectorId", connector}, {"amount", amount}, {"transactionType", type}};
}

Json by_beneficiary(const std::string& connector, const Json& beneficiary) {
  return {{"connectorId", connector}, {"amount", "100"}, {"beneficiaryId", beneficiary.at("id")}};
}

/// send/receive/fee/total of a quote.
std::string figures(const Json& quote) {
  std::string out;
  for (const char* name : {"sendAmount", "receiveAmount", "fee", "total"}) {
    out += (out.empty() ? "" : "/") + quote.at(name).get<std::string>();
  }
  return out;
}

/// A client of an association of this type.
Client sender(TestApp& app, EntityType type) {
  const auto association =
      flows::register_association(app.flows(), "Sender", AssociationStatus::active, type).value();
  return Client(app, app.register_application(association.id));
}

}  // namespace

TEST_CASE("an off-ramp quote: the total is the sent amount plus the fee") {
  TestApp app;
  const std::string id = add_connector(app);
  const Reply reply = app.me().post(kQuotes, by_type(id, "100"));
  INFO(reply.text());
  REQUIRE(reply.status == 201);
  Json quote = reply.json();
  const std::string quote_id = quote.at("quoteId");
  CHECK(reply.header("Location") == kQuotes + "/" + quote_id);
  CHECK(app.me().get(kQuotes + "/" + quote_id).json() == quote);
  quote.erase("quoteId");
  CHECK(quote == Json{{"type", "offramp"},
                      {"connectorId", id},
                      {"transactionType", "B2C"},
                      {"sendAssetCode", "USDC"},
                      {"sendAmount", "100.00"},
                      {"receiveCurrency", "KES"},
                      {"receiveAmount", "12950.00"},
                      {"rate", "129.5"},
                      {"fee", "1.50"},
                      {"total", "101.50"},
                      {"expiresAt", "2026-01-01T00:02:00.000Z"},
                      {"createdAt", "2026-01-01T00:00:00.000Z"},
                      {"status", "OPEN"}});
}

TEST_CASE("an on-ramp quote: the total is the amount of the payer, including the fee") {
  TestApp app;
  const std::string id = add_connector(app, collection_connector());
  const Reply reply =
      app.me().post(kOnRamp, {{"connectorId", id}, {"amount", "1000"}, {"beneficiaryId", "x"}});
  INFO(reply.text());
  REQUIRE(reply.status == 201);
  const Json quote = reply.json();
  CHECK(quote.at("type") == "onramp");
  CHECK(quote.at("sendAssetCode") == "KES");
  CHECK(quote.at("receiveCurrency") == "USDC");
  CHECK(figures(quote) == "1000.00/7.35/20.00/1000.00");  // (1000 - 20) x 0.0075
  CHECK_FALSE(quote.contains("beneficiaryId"));
  CHECK_FALSE(quote.contains("transactionType"));
  CHECK(app.me()
            .post(kOnRamp, {{"connectorId", id}, {"amount", "1000"}, {"transactionType", "c2b"}})
            .json()
            .at("transactionType") == "C2B");
  // Any other value of `type` means off-ramp, which this connector is not.
  for (const char* target : {"/v1/quotes", "/v1/quotes?type=", "/v1/quotes?type=ONRAMP"}) {
    CHECK(app.me().post(target, by_type(id, "1000")).status == 422);
  }
}

TEST_CASE("amounts are decimals as text or numbers, rounded in the operator's favour") {
  TestApp app;
  const std::string id = add_connector(app);
  const auto priced = [&](const std::string& amount) {
    const Reply reply =
        app.me().post_text(kQuotes, R"({"connectorId":")" + id +
                                        R"(","transactionType":"B2C","amount":)" + amount + "}");
    INFO(reply.text());
    REQUIRE(reply.status == 201);
    return figures(reply.json());
  };
  CHECK(priced("100") == "100.00/12950.00/1.50/101.50");
  CHECK(priced("1e2") == "100.00/12950.00/1.50/101.50");
  CHECK(priced("\"1.0000001\"") == "1.0000001/129.50/0.5100001/1.5100002");
  CHECK(priced("1.00009") == "1.00009/129.51/0.5100009/1.5100909");
}

TEST_CASE("exactly one of beneficiaryId and transactionType prices an off-ramp") {
  TestApp app;
  Names names{{"connector", add_connector(app)},
              {"onramp", add_connector(app, collection_connector())}};
  const Json whose = beneficiary(app.me(), person_with(Json::array({destination()})));
  names["beneficiary"] = whose.at("id");
  names["destination"] = whose.at("paymentDestinations")[0].at("id");
  const auto row = [](const char* name, const char* body, int status, const char* slug,
                      std::vector<std::string> fields) {
    return Scenario{name, kQuotes, body, status, slug, std::move(fields)};
  };
  run_scenarios(
      app.me(),
      {row("neither", R"({"amount":1,"connectorId":"$connector"})", 422, "validation-failed",
           {"beneficiaryId", "transactionType"}),
       row("both",
           R"({"amount":1,"connectorId":"$connector","beneficiaryId":"$beneficiary","transactionType":"B2C"})",
           422, "validation-failed", {"beneficiaryId", "transactionType"}),
       row("nulls are as good as absent",
           R"({"amount":1,"connectorId":"$connector","beneficiaryId":null,"transactionType":null})",
           422, "validation-failed", {"beneficiaryId", "transactionType"}),
       row("a destination without a beneficiary",
           R"({"amount":1,"connectorId":"$connector","transactionType":"B2C","destinationId":"$destination"})",
           422, "validation-failed", {"destinationId"}),
       row("any case", R"({"amount":1,"connectorId":"$connector","transactionType":"b2C"})", 201,
           "", {}),
       row("no such type", R"({"amount":1,"connectorId":"$connector","transactionType":"X2Y"})",
           400, "malformed-request", {"transactionType"}),
       row("nothing", "{}", 400, "malformed-request",
           {"amount", "connectorId", "beneficiaryId", "transactionType"}),
       row("wrong types", R"({"amount":[],"connectorId":1,"beneficiaryId":2})", 400,
           "malformed-request", {"amount", "connectorId", "beneficiaryId"})},
      names);
}

TEST_CASE("amounts that a connector does not accept") {
  TestApp app;
  const Names names{{"connector", add_connector(app)},
                    {"onramp", add_connector(app, collection_connector())},
                    {"tiny", add_connector(app, [](ConnectorTerms& terms) {
                       terms.min_amount = amount("0.0000001");
                     })}};
  const auto row = [](const char* name, const std::string& amount, const char* slug,
                      const char* connector = "connector") {
    return Scenario{name,
                    kQuotes,
                    R"({"transactionType":"B2C","connectorId":"$)" + std::string(connector) +
                        R"(","amount":)" + amount + "}",
                    std::string(slug).empty() ? 201 : 422,
                    slug,
                    std::string(slug).empty() ? std::vector<std::string>{}
                                              : std::vector<std::string>{"amount"}};
  };
  run_scenarios(
      app.me(),
      {row("zero", "0", "amount-out-of-range"), row("negative", "-5", "amount-out-of-range"),
       row("below the smallest", "0.9999999", "amount-out-of-range"), row("the smallest", "1", ""),
       row("the largest", "10000", ""),
       row("above the largest", "10000.0000001", "amount-out-of-range"),
       row("beyond int64", "1e20", "amount-out-of-range"),
       row("eight places", "1.00000001", "amount-precision"),
       row("so small that nothing arrives", "0.0000001", "amount-out-of-range", "tiny")},
      names);
  const Reply places =
      app.me().post(kOnRamp, {{"connectorId", names.at("onramp")}, {"amount", "1000.005"}});
  CHECK(places.slug() == "amount-precision");
}

TEST_CASE("connectors that reject quotes") {
  TestApp app;
  const std::string bespoke = add_connector(
      app, [](ConnectorTerms& terms) { terms.flow = ConnectorFlow::bespoke; },
      collection_connector());
  const Reply no_quotes = app.me().post(kOnRamp, {{"connectorId", bespoke}, {"amount", "1000"}});
  CHECK(no_quotes.slug() == "validation-failed");
  CHECK(no_quotes.json().at("errors")[0].at("field") == "connectorId");

  const std::string off_ramp = add_connector(app);
  const Reply direction = app.me().post(kOnRamp, {{"connectorId", off_ramp}, {"amount", "100"}});
  CHECK(direction.slug() == "validation-failed");
  CHECK(direction.json().at("errors")[0].at("field") == "connectorId");

  const std::string consumers = add_connector(app, [](ConnectorTerms& terms) { terms.types = 1; });
  const Reply type = app.me().post(kQuotes, by_type(consumers, "100", "B2B"));
  CHECK(type.slug() == "validation-failed");
  CHECK(type.json().at("errors")[0].at("field") == "transactionType");
  const Json whose = beneficiary(app.me(), company_with(Json::array({destination()})));
  const Reply derived = app.me().post(kQuotes, by_beneficiary(consumers, whose));
  CHECK(derived.slug() == "validation-failed");
  CHECK(derived.json().at("errors")[0].at("field") == "beneficiaryId");

  pause_connector(app, off_ramp);
  const Reply paused = app.me().post(kQuotes, by_type(off_ramp, "100"));
  CHECK(paused.slug() == "conflict");
  const Reply nobodys =
      app.me().post(kQuotes, by_type(app.random.uuid_v7(app.clock.now()).to_string(), "100"));
  CHECK(nobodys.slug() == "not-found");
  CHECK(app.production().post(kQuotes, by_type(consumers, "100", "C2C")).slug() == "not-found");
}

TEST_CASE("a quote for a beneficiary: type and destination") {
  TestApp app;
  const std::string id = add_connector(app);
  const Json one =
      beneficiary(app.me(), person_with(Json::array({destination(), destination("TZ", "TZS")})));
  const Json fitting = one.at("paymentDestinations")[0], other = one.at("paymentDestinations")[1];
  const Json quote = app.me().post(kQuotes, by_beneficiary(id, one)).json();
  CHECK(quote.at("beneficiaryId") == one.at("id"));
  CHECK(quote.at("destinationId") == fitting.at("id"));
  CHECK(quote.at("transactionType") == "B2C");
  CHECK(app.me().get(kQuotes + "/" + quote.at("quoteId").get<std::string>()).json() == quote);

  Json body = by_beneficiary(id, one);
  body["destinationId"] = fitting.at("id");
  CHECK(app.me().post(kQuotes, body).json().at("destinationId") == fitting.at("id"));
  body["destinationId"] = other.at("id");
  const Reply unfit = app.me().post(kQuotes, body);
  CHECK(unfit.slug() == "validation-failed");
  CHECK(unfit.json().at("errors")[0].at("field") == "destinationId");
  // With two suitable destinations, neither is selected.
  const Json two = beneficiary(app.me(), company_with(Json::array({destination(), destination()})));
  const Json open = app.me().post(kQuotes, by_beneficiary(id, two)).json();
  CHECK_FALSE(open.contains("destinationId"));
  CHECK(open.at("transactionType") == "B2B");
  body["destinationId"] = two.at("paymentDestinations")[0].at("id");
  CHECK(app.me().post(kQuotes, body).slug() == "not-found");

  const Client consumer = sender(app, EntityType::person);
  const Json theirs = beneficiary(consumer, person_with(Json::array({destination()})));
  CHECK(consumer.post(kQuotes, by_beneficiary(id, theirs)).json().at("transactionType") == "C2C");
  const Json shop = beneficiary(consumer, company_with(Json::array({destination()})));
  CHECK(consumer.post(kQuotes, by_beneficiary(id, shop)).json().at("transactionType") == "C2B");
  const Reply foreign = app.me().post(kQuotes, by_beneficiary(id, theirs));
  CHECK(foreign.slug() == "not-found");
  CHECK(foreign.json().at("errors")[0].at("field") == "beneficiaryId");
}

TEST_CASE("limits per destination are checked when the destination is known") {
  TestApp app;
  const auto limited = [&](const char* day, const char* month) {
    return add_connector(app, [&](ConnectorTerms& terms) {
      terms.day_limit = amount(day);
      terms.month_limit = amount(month);
    });
  };
  const Json whose = beneficiary(app.me(), person_with(Json::array({destination()})));
  for (const std::string& id : {limited("99.99", "1000"), limited("1000", "99.99")}) {
    const Reply beyond = app.me().post(kQuotes, by_beneficiary(id, whose));
    CHECK(beyond.slug() == "amount-out-of-range");
    CHECK(beyond.json().at("errors")[0].at("field") == "amount");
    CHECK(app.me().post(kQuotes, by_type(id, "100")).status == 201);
  }
  // The limit is inclusive, and the fee does not count.
  const std::string id = limited("100", "100");
  CHECK(app.me().post(kQuotes, by_beneficiary(id, whose)).status == 201);
}

TEST_CASE("a fee for the association overrides the connector's fee, even zero, on off-ramps only") {
  TestApp app;
  const std::string id = add_connector(app);
  const auto fee = [&](const Client& client, const char* type) {
    return quote(client, id, "100", type).at("fee").get<std::string>();
  };
  set_fee(app, app.association(), id, TransactionType::b2c, "0", 0);
  set_fee(app, app.association(), id, TransactionType::b2b, "2", 25);
  CHECK(fee(app.me(), "B2C") == "0.00");
  CHECK(quote(app.me(), id, "100", "B2C").at("total") == "100.00");
  CHECK(fee(app.me(), "B2B") == "2.25");
  CHECK(quote(app.me(), id, "100", "B2B").at("total") == "102.25");
  CHECK(fee(app.me(), "C2C") == "1.50");
  CHECK(fee(app.stranger(), "B2C") == "1.50");
  flows::remove_fee(app.flows(), app.association(), *ConnectorId::parse(id), TransactionType::b2c)
      .value();
  CHECK(fee(app.me(), "B2C") == "1.50");
  const std::string on_ramp = add_connector(app, collection_connector());
  const auto rejected = flows::set_fee(app.flows(), app.association(), *ConnectorId::parse(on_ramp),
                                       TransactionType::c2b, {});
  CHECK_FALSE(rejected);
}

TEST_CASE("a quote is valid for two minutes and can be read afterwards") {
  TestApp app;
  const std::string id = quote(app.me(), add_connector(app)).at("quoteId");
  const auto status = [&] { return app.me().get(kQuotes + "/" + id).json().at("status"); };
  app.clock.advance_ms(119'999);
  CHECK(status() == "OPEN");
  app.clock.advance_ms(1);
  CHECK(status() == "EXPIRED");
  const Reply late = app.me().post("/v1/sandbox/quotes/" + id + "/expire", Json::object());
  CHECK(late.slug() == "quote-expired");
  CHECK(app.stranger().get(kQuotes + "/" + id).status == 404);
  CHECK(app.production().get(kQuotes + "/" + id).status == 404);
  CHECK(app.me().get(kQuotes + "/not-a-uuid").status == 404);
}

TEST_CASE("a quote can be expired in the sandbox") {
  TestApp app;
  const std::string id = quote(app.me(), add_connector(app)).at("quoteId");
  const std::string path = "/v1/sandbox/quotes/" + id + "/expire";
  CHECK(app.stranger().post(path, Json::object()).status == 404);
  const Reply expired = app.me().post(path, Json::object());
  CHECK(expired.status == 200);
  CHECK(expired.json().at("status") == "EXPIRED");
  CHECK(expired.json().at("expiresAt") == "2026-01-01T00:00:00.000Z");
  CHECK(app.me().post(path, Json::object()).slug() == "quote-expired");
}

TEST_CASE("a provider that fails during a quote") {
  TestApp app;
  const Listener silence;
  const auto ask = [&](const std::string& url, int timeout_ms) {
    return app.me().post(kQuotes, by_type(add_http_connector(app, url, timeout_ms), "100"));
  };
  constexpr int kEnoughMs = 10'000;
  const Reply late = ask(silence.url(), 200);
  CHECK(late.status == 504);
  CHECK(late.slug() == "provider-timeout");
  const Reply unreachable = ask("http://127.0.0.1:1", kEnoughMs);
  CHECK(unreachable.status == 503);
  CHECK(unreachable.slug() == "provider-unavailable");
  CHECK(std::stoi("0" + unreachable.header("Retry-After")) > 0);
  // This server is not a provider.
  app.listen();
  const Reply garbage =
      ask("http://127.0.0.1:" + std::to_string(app.core().listeners().port()), kEnoughMs);
  CHECK(garbage.status == 502);
  CHECK(garbage.slug() == "provider-error");
  CHECK(app.log().find("shared") == std::string::npos);
}

}  // namespace quotes_test
