// Connectors: the list and its filters, the single read with its steps, and those for a
// beneficiary.
#include "support/connectors.h"

#include <catch2/catch.hpp>

#include "support/scenario.h"
#include "support/test_app.h"

using namespace coffer;
using namespace coffer::test;

namespace {

const std::string kConnectors = "/v1/connectors";

/// IDs of connectors of every kind.
Names corridors(TestApp& app) {
  Names names;
  names["kenya"] = add_connector(app);
  names["collect"] = add_connector(app, collection_connector());
  names["bank"] = add_connector(app, [](ConnectorTerms& terms) {
    terms.method = PayMethod::bank;
    terms.country = "de";
    terms.currency = "eur";
    terms.asset.code = *AssetCode::parse("EURC");
    terms.types = 0b1100;
  });
  names["bespoke"] = add_connector(
      app,
      [](ConnectorTerms& terms) {
        terms.flow = ConnectorFlow::bespoke;
        terms.issues_references = true;
        terms.method = PayMethod::bank;
      },
      collection_connector());
  return names;
}

std::string beneficiary(const Client& client, const Json& destinations) {
  const Reply reply = client.post("/v1/beneficiaries",
                                  {{"individual", {{"firstName", "Amina"}, {"lastName", "Otieno"}}},
                                   {"paymentDestinations", destinations}});
  INFO(reply.text());
  REQUIRE(reply.status == 201);
  return reply.json().at("id");
}

Json momo(const char* country = "KE", const char* currency = "KES") {
  return {{"method", "MOMO"},
          {"countryIsoCode2", country},
          {"currencyIsoCode3", currency},
          {"mobileMoney", {{"provider", "M-Pesa"}, {"phoneNumber", "+254712345678"}}}};
}

using List = std::vector<std::string>;

}  // namespace

TEST_CASE("a connector is shown completely, except for fees") {
  TestApp app;
  const std::string id = add_connector(app);
  const Reply reply = app.me().get(kConnectors + "/" + id);
  REQUIRE(reply.status == 200);
  Json connector = reply.json();
  CHECK(connector.at("executionSteps").size() == 3);
  CHECK(connector.at("executionSteps")[0].at("order") == 1);
  CHECK(connector.at("executionSteps")[0].at("type") == "QUOTE");
  connector.erase("executionSteps");
  CHECK(connector == Json{{"id", id},
                          {"name", "Mobile money payouts"},
                          {"provider", "Sandbox"},
                          {"flow", "QUOTED"},
                          {"direction", "OFF_RAMP"},
                          {"method", "MOMO"},
                          {"countryIsoCode2", "KE"},
                          {"currencyIsoCode3", "KES"},
                          {"assetCode", "USDC"},
                          {"minAmount", "1.00"},
                          {"maxAmount", "10000.00"},
                          {"transactionTypes", {"C2C", "C2B", "B2C", "B2B"}},
                          {"status", "ACTIVE"},
                          {"environment", "sandbox"}});
  // The list shows the same members except the steps.
  CHECK(app.me().get(kConnectors).json().at("data") == Json::array({connector}));
  pause_connector(app, id);
  CHECK(app.me().get(kConnectors + "/" + id).json().at("status") == "PAUSED");
}

TEST_CASE("the list of connectors and its filters") {
  TestApp app;
  const Names names = corridors(app);
  const std::string kenya = names.at("kenya"), collect = names.at("collect"),
                    bank = names.at("bank"), bespoke = names.at("bespoke");
  const auto found = [&](const std::string& query) {
    return member_of_each(app.me().all(kConnectors + query), "id");
  };
  CHECK(found("") == List{bespoke, bank, collect, kenya});
  CHECK(found("?limit=1") == List{bespoke, bank, collect, kenya});
  CHECK(found("?countryIsoCode2=KE") == List{bespoke, collect, kenya});
  CHECK(found("?countryIsoCode2=de") == List{bank});
  CHECK(found("?countryIsoCode2=FR") == List{});
  CHECK(found("?direction=OFF_RAMP") == List{bank, kenya});
  CHECK(found("?direction=ON_RAMP") == List{bespoke, collect});
  CHECK(found("?method=BANK") == List{bespoke, bank});
  CHECK(found("?method=MOBILE_MONEY") == List{collect, kenya});
  CHECK(found("?assetCode=EURC") == List{bank});
  CHECK(found("?flow=BESPOKE") == List{bespoke});
  CHECK(found("?flow=QUOTED&countryIsoCode2=KE&direction=ON_RAMP&method=MOMO&assetCode=USDC") ==
        List{collect});
  const auto wrong = [](const char* name, const std::string& query, const char* field) {
    return Scenario{name, kConnectors + query, "", 400, "malformed-request", {field}, {}, "GET"};
  };
  run_scenarios(app.me(),
                {wrong("country of three letters", "?countryIsoCode2=KEN", "countryIsoCode2"),
                 wrong("country that is no letters", "?countryIsoCode2=1!", "countryIsoCode2"),
                 {"country that is not there",
                  kConnectors + "?countryIsoCode2=XX",
                  "",
                  422,
                  "validation-failed",
                  {"countryIsoCode2"},
                  {},
                  "GET"},
                 wrong("direction", "?direction=SIDEWAYS", "direction"),
                 wrong("method", "?method=PIGEON", "method"),
                 wrong("asset", "?assetCode=NO-CODE", "assetCode"),
                 wrong("flow", "?flow=EBB", "flow"),
                 wrong("limit", "?limit=0", "limit")});
}

TEST_CASE("a cursor of connectors is bound to its filters") {
  TestApp app;
  corridors(app);
  const Json page = app.me().get(kConnectors + "?limit=1").json();
  const std::string cursor = page.at("nextCursor");
  CHECK(app.me().get(kConnectors + "?limit=1&cursor=" + cursor).status == 200);
  CHECK(app.me().get(kConnectors + "?limit=1&flow=QUOTED&cursor=" + cursor).slug() ==
        "invalid-cursor");
}

TEST_CASE("connectors belong to one environment") {
  TestApp app;
  const std::string id = add_connector(app);
  const Client production = app.production();
  CHECK(production.get(kConnectors).json().at("data").empty());
  CHECK(production.get(kConnectors + "/" + id).status == 404);
  for (const char* none : {"1", "not-a-uuid", "00000000-0000-0000-0000-000000000000"}) {
    CHECK(app.me().get(kConnectors + "/" + none).status == 404);
  }
}

TEST_CASE("the steps follow flow, direction and transaction type") {
  TestApp app;
  flows::NewConnector connector = payout_connector();
  connector.terms.types = 0b1100;  // B2C and B2B
  Requirement both{.name = "purposeCode", .label = "Purpose"};
  Requirement business{.name = "registration", .label = "Number", .types = 0b1000};
  Requirement extra{.name = "note", .required = false, .label = "Note"};
  connector.requirements = {both, business, extra};
  const std::string id = add_connector(app, connector);
  const auto steps = [&](const std::string& of, const std::string& query) {
    return app.me().get(kConnectors + "/" + of + query).json().at("executionSteps");
  };
  const auto asks = [&](const std::string& query) {
    List out;
    const Json all = steps(id, query);
    for (const Json& field : all[1].at("requiredFields")) {
      if (field.get<std::string>().starts_with("additionalFields.")) out.push_back(field);
    }
    return out;
  };
  CHECK(asks("") == List{"additionalFields.purposeCode", "additionalFields.registration"});
  CHECK(asks("?transactionType=B2C") == List{"additionalFields.purposeCode"});
  CHECK(asks("?transactionType=b2b") ==
        List{"additionalFields.purposeCode", "additionalFields.registration"});
  CHECK(steps(id, "?transactionType=C2C").empty());
  CHECK(app.me().get(kConnectors + "/" + id + "?transactionType=X2Y").status == 400);
  const Names names = corridors(app);
  const auto types = [&](const std::string& of) {
    const Json all = steps(of, "");
    return member_of_each({all.begin(), all.end()}, "type");
  };
  CHECK(types(id) == List{"QUOTE", "SUBMIT", "PAYOUT"});
  CHECK(types(names.at("collect")) == List{"QUOTE", "SUBMIT", "PAY", "CREDIT"});
  CHECK(types(names.at("bespoke")) == List{"REFERENCE", "PAY", "CREDIT"});
}

TEST_CASE("connectors for a beneficiary reach one of its destinations") {
  TestApp app;
  const Names names = corridors(app);
  const std::string paused = add_connector(app);
  pause_connector(app, paused);
  const std::string id = beneficiary(app.me(), Json::array({momo()}));
  const auto found = [&](const std::string& who, const std::string& method) {
    const Reply reply = app.me().get(kConnectors + "/beneficiary/" + who + "/" + method);
    INFO(reply.text());
    REQUIRE(reply.status == 200);
    CHECK(reply.json().at("hasMore") == false);
    const Json data = reply.json().at("data");
    return member_of_each({data.begin(), data.end()}, "id");
  };
  CHECK(found(id, "MOMO") == List{names.at("kenya")});
  CHECK(found(id, "MOBILE_MONEY") == List{names.at("kenya")});
  for (const char* other : {"BANK", "CRYPTO", "CARD", "CASH", "QR", "VOUCHER", "WALLET"}) {
    CHECK(found(id, other) == List{});
  }
  // Another country, or another currency, is another corridor.
  CHECK(found(beneficiary(app.me(), Json::array({momo("TZ", "KES"), momo("KE", "USD")})), "MOMO") ==
        List{});
  CHECK(found(beneficiary(app.me(), Json::array()), "MOMO") == List{});
  const Reply pigeon = app.me().get(kConnectors + "/beneficiary/" + id + "/PIGEON");
  CHECK(pigeon.status == 400);
  CHECK(pigeon.json().at("errors")[0].at("field") == "method");
  CHECK(app.stranger().get(kConnectors + "/beneficiary/" + id + "/MOMO").status == 404);
  CHECK(app.me().get(kConnectors + "/beneficiary/not-a-uuid/MOMO").status == 404);
}
