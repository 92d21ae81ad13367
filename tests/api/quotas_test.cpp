// Quotas per association and environment (docs/contract.md#quotas).
#include "flows/identity/quotas.h"

#include <catch2/catch.hpp>

#include "store/commits/quota_book.h"
#include "support/connectors.h"
#include "support/recipients.h"
#include "support/test_app.h"

using namespace coffer;
using namespace coffer::test;

namespace quotas_test {
namespace {

void limit(TestApp& app, Quota quota, std::optional<std::int64_t> maximum,
           Environment environment = Environment::sandbox) {
  flows::set_quota(app.flows(), app.association(), environment, quota, maximum).value();
}

Json quota_of(const Client& client, std::string_view name) {
  const Json data = client.get("/v1/quotas").json().at("data");
  for (const Json& row : data) {
    if (row.at("name") == name) return row;
  }
  throw InternalError("no such quota");
}

/// Sets the quota to allow `more` additional objects.
void leave(TestApp& app, Quota quota, std::int64_t more) {
  limit(app, quota, quota_of(app.me(), name(quota)).at("used").get<std::int64_t>() + more);
}

void check_rejected(const Reply& reply, Quota quota) {
  INFO(reply.text());
  CHECK(reply.status == 422);
  CHECK(reply.slug() == "quota-exceeded");
  CHECK(reply.json().at("errors")[0].at("field") == "quota." + std::string(name(quota)));
}

Json momo() {
  return {{"method", "MOMO"},
          {"countryIsoCode2", "KE"},
          {"currencyIsoCode3", "KES"},
          {"mobileMoney", {{"provider", "M-Pesa"}, {"phoneNumber", "+254712345678"}}}};
}

Json beneficiary(int destinations) {
  Json all = Json::array();
  for (int i = 0; i < destinations; ++i) all.push_back(momo());
  return {{"individual", {{"firstName", "Amina"}, {"lastName", "Otieno"}}},
          {"paymentDestinations", all}};
}

std::string hook(const char* type) {
  return R"({"url":"http://127.0.0.1:9/","eventTypes":[")" + std::string(type) + R"("]})";
}

}  // namespace

TEST_CASE("quotas: the list contains every quota, its usage and its limit") {
  TestApp app;
  app.wallet("USDC");
  const Reply reply = app.me().get("/v1/quotas");
  REQUIRE(reply.status == 200);
  const Json data = reply.json().at("data");
  REQUIRE(data.size() == kQuotaCount);
  CHECK(data[0] == Json{{"name", "wallets"},
                        {"description", "wallets"},
                        {"used", 1},
                        {"limit", default_quotas(Environment::sandbox).of(Quota::wallets)}});
  CHECK(quota_of(app.me(), "file_bytes").at("used") >= store::row_bytes::kWallet);
  CHECK(quota_of(app.production(), "wallets").at("used") == 0);
  CHECK(quota_of(app.production(), "file_bytes").at("limit").is_null());
  CHECK(app.me().scoped("wallets:read").get("/v1/quotas").slug() == "insufficient-scope");
}

TEST_CASE("quotas: wallets") {
  TestApp app;
  leave(app, Quota::wallets, 1);
  const Json body{{"walletName", "One"}, {"assetCode", "USDC"}, {"isOwnAccount", true}};
  app.wallet("USDC");
  limit(app, Quota::wallets, 1);
  const Client stranger = app.stranger();
  stranger.wallet("USDC");  // another association has its own quotas
  const std::string id = app.me().get("/v1/wallets").json().at("data")[0].at("id");
  CHECK(app.me().post("/v1/wallets/" + id + "/trustlines", {{"assetCode", "EURC"}}).status < 300);
  limit(app, Quota::wallets, std::nullopt);
  app.wallet("USDC");
  CHECK(quota_of(app.me(), "wallets").at("used") == 2);
}

TEST_CASE("quotas: beneficiaries and destinations, freed by archiving") {
  TestApp app;
  limit(app, Quota::beneficiaries, 2);
  limit(app, Quota::destinations, 3);
  const Client& me = app.me();
  const std::string first = me.post("/v1/beneficiaries", beneficiary(2)).json().at("id");
  check_rejected(me.post("/v1/beneficiaries", beneficiary(2)), Quota::destinations);
  const std::string second = me.post("/v1/beneficiaries", beneficiary(1)).json().at("id");
  check_rejected(me.post("/v1/beneficiaries", beneficiary(0)), Quota::beneficiaries);
  check_rejected(me.put("/v1/beneficiaries/" + second, beneficiary(2)), Quota::destinations);
  // Requests that need no additional quota are allowed when it is used up.
  CHECK(me.put("/v1/beneficiaries/" + second, beneficiary(1)).status == 200);
  CHECK(me.send({"DELETE", "/v1/beneficiaries/" + first, {}, {}}).status == 204);
  CHECK(quota_of(me, "beneficiaries").at("used") == 1);
  CHECK(quota_of(me, "destinations").at("used") == 1);
  CHECK(me.post("/v1/beneficiaries", beneficiary(2)).status == 201);
}

TEST_CASE("quotas: a bulk request stores rows up to the quota and reports it for the others") {
  TestApp app;
  limit(app, Quota::beneficiaries, 3);
  Json rows = Json::array();
  for (int i = 0; i < 5; ++i) rows.push_back(beneficiary(1));
  const Json body = app.me().post("/v1/beneficiaries/bulk", {{"beneficiaries", rows}}).json();
  CHECK(body.at("created") == 3);
  CHECK(body.at("failed") == 2);
  for (const std::size_t i : {3, 4}) {
    CHECK(body.at("results")[i].at("problem").at("code") == "quota_exceeded");
  }
  CHECK(quota_of(app.me(), "destinations").at("used") == 3);
}

TEST_CASE("quotas: open quotes, freed by use and expiry") {
  TestApp app;
  const std::string connector = add_connector(app);
  const std::string wallet = app.wallet("USDC", "1000");
  const std::string recipient = add_recipient(app.me());
  limit(app, Quota::open_quotes, 2);
  const Json used = quote_for(app.me(), connector, recipient);
  quote(app.me(), connector);
  const Json body{{"connectorId", connector}, {"amount", "100"}, {"transactionType", "B2C"}};
  check_rejected(app.me().post("/v1/quotes", body), Quota::open_quotes);
  app.me().pay("/v1/payments/offramp", cash_out_body(used, wallet, recipient));
  CHECK(quota_of(app.me(), "open_quotes").at("used") == 1);
  quote(app.me(), connector);
  check_rejected(app.me().post("/v1/quotes", body), Quota::open_quotes);
  app.clock.advance_ms(130'000);
  CHECK(quota_of(app.me(), "open_quotes").at("used") == 0);
  quote(app.me(), connector);
}

TEST_CASE("quotas: webhooks, freed by disabling") {
  TestApp app;
  limit(app, Quota::webhooks, 1);
  const Json made = app.me().post_text("/v1/webhooks", hook("payment.succeeded")).json();
  check_rejected(app.me().post_text("/v1/webhooks", hook("payment.failed")), Quota::webhooks);
  const std::string path = "/v1/webhooks/" + made.at("id").get<std::string>();
  CHECK(app.me().send({"DELETE", path, {}, {}}).status == 200);
  CHECK(app.me().post_text("/v1/webhooks", hook("payment.failed")).status == 201);
}

TEST_CASE("quotas: new payments stop at the byte limit, and payments in progress do not") {
  TestApp app;
  const std::string from = app.wallet("USDC", "1000");
  const std::string to = app.wallet("USDC");
  leave(app, Quota::file_bytes, 20'000);
  std::vector<std::string> accepted;
  Json last;
  Reply reply;
  for (int i = 0; i < 100; ++i) {
    last = transfer_body(from, to, "1");
    reply = app.me().post("/v1/payments/p2p/own", last);
    if (reply.status != 202) break;
    accepted.push_back(reply.json().at("transactionRecordId"));
  }
  check_rejected(reply, Quota::file_bytes);
  CHECK(accepted.size() > 10);
  CHECK(app.me().post("/v1/payments/p2p/own/validate", last).slug() == "quota-exceeded");
  check_rejected(app.me().post("/v1/sandbox/wallets/" + from + "/fund",
                               {{"assetCode", "USDC"}, {"amount", "1"}}),
                 Quota::file_bytes);
  // Settlement continues, and a replay of an accepted payment gets its response.
  CHECK(app.settle() == static_cast<int>(accepted.size()));
  for (const std::string& id : accepted) CHECK(app.me().status(id) == "succeeded");
  const Json row = quota_of(app.me(), "file_bytes");
  CHECK(row.at("used") > row.at("limit"));
  limit(app, Quota::file_bytes, kUnlimited);
  CHECK(app.me().post("/v1/payments/p2p/own", last).status == 202);
}

TEST_CASE("quotas: a replay gets its response even if the quota is used up") {
  TestApp app;
  const std::string from = app.wallet("USDC", "1000");
  const std::string to = app.wallet("USDC");
  const Json body = transfer_body(from, to, "1");
  const Reply first = app.me().post("/v1/payments/p2p/own", body);
  REQUIRE(first.status == 202);
  limit(app, Quota::file_bytes, 0);
  const Reply again = app.me().post("/v1/payments/p2p/own", body);
  CHECK(again.status == 202);
  CHECK(again.json().at("isIdempotent") == true);
}

TEST_CASE("quotas: the settings apply to every association without its own limits") {
  TestApp app([](Config& config) {
    config.quota_sandbox = parse_quota_limits("wallets=1", config.quota_sandbox).value();
  });
  for (const Client& client : {app.me(), app.stranger()}) {
    client.wallet("USDC");
    CHECK(quota_of(client, "wallets").at("limit") == 1);
  }
  limit(app, Quota::wallets, 2);
  app.wallet("USDC");
  app.restart();
  CHECK(quota_of(app.me(), "wallets").at("used") == 2);
  CHECK(app.log().find("a quota is more than 80 % used") != std::string::npos);
}

}  // namespace quotas_test
