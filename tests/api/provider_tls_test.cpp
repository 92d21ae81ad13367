// A connector in production connects to its provider only over TLS.
#include <catch2/catch.hpp>

#include "support/recipients.h"
#include "support/simulated_provider.h"
#include "unit/http/certificates.h"

using namespace coffer;
using namespace coffer::test;

namespace {

flows::NewConnector production_connector() {
  flows::NewConnector out = payout_connector();
  out.terms.environment = Environment::production;
  return out;
}

}  // namespace

TEST_CASE("a production connector pays through the simulated provider over TLS") {
  const http::test::Certificates files;
  files.make("IP:127.0.0.1", 1);
  TestApp app([&](Config& config) { config.ca_bundle = files.cert(); });
  SimulatedProvider provider(app, files.cert(), files.key());
  const Client client = app.production();
  const std::string wallet = client.wallet("USDC");
  app.issue(wallet, "USDC", "100");
  const std::string recipient = add_recipient(client);
  const std::string connector = add_connector_at(app, provider.url(), production_connector());
  const std::string id =
      client.pay("/v1/payments/offramp",
                 cash_out_body(quote_for(client, connector, recipient, "10"), wallet, recipient));
  app.settle();
  CHECK(client.status(id) == "succeeded");
  CHECK(provider.submissions(id) == 1);
}

TEST_CASE("a production connector rejects plain http and untrusted certificates") {
  flows::NewConnector plain = production_connector();
  plain.terms.driver = DriverKind::http;
  plain.terms.endpoint = ProviderEndpoint{"http://127.0.0.1:1", Secret("shared"), 5'000};
  TestApp app;
  const auto rejected = flows::register_connector(app.flows(), plain);
  REQUIRE_FALSE(rejected);
  CHECK(rejected.error().fields.front().field == "baseUrl");

  const http::test::Certificates files;
  files.make("IP:127.0.0.1", 1);
  SimulatedProvider stranger(app, files.cert(), files.key());
  const std::string connector = add_connector_at(app, stranger.url(), production_connector());
  const Reply quote = app.production().post(
      "/v1/quotes", {{"connectorId", connector}, {"amount", "10"}, {"transactionType", "B2C"}});
  CHECK(quote.slug() == "provider-unavailable");
}
