#include "support/connectors.h"

#include <catch2/catch.hpp>

#include "support/test_app.h"

namespace coffer::test {

Amount amount(const char* text) {
  return std::string_view(text) == "0" ? Amount() : parse_amount(text, Amount::kScale).amount;
}

flows::NewConnector payout_connector() {
  ConnectorTerms terms;
  terms.name = "Mobile money payouts";
  terms.provider = "Sandbox";
  terms.method = PayMethod::momo;
  terms.country = "KE";
  terms.currency = "KES";
  terms.currency_decimals = 2;
  terms.asset.code = *AssetCode::parse("USDC");
  terms.rate = *Rate::parse("129.5");
  terms.fee = {amount("0.5"), 100};
  terms.min_amount = amount("1");
  terms.max_amount = amount("10000");
  return {terms, {}};
}

flows::NewConnector collection_connector() {
  flows::NewConnector connector = payout_connector();
  ConnectorTerms& terms = connector.terms;
  terms.name = "Mobile money collections";
  terms.direction = Direction::on_ramp;
  terms.rate = *Rate::parse("0.0075");
  terms.fee = {amount("10"), 100};
  terms.min_amount = amount("100");
  terms.max_amount = amount("1000000");
  return connector;
}

std::string add_connector(TestApp& app, const flows::NewConnector& connector) {
  const auto made = flows::register_connector(app.flows(), connector);
  INFO((made ? "" : made.error().detail));
  REQUIRE(made);
  return made->connector.terms.id.to_string();
}

std::string add_connector(TestApp& app, const std::function<void(ConnectorTerms&)>& change,
                          flows::NewConnector connector) {
  change(connector.terms);
  return add_connector(app, connector);
}

std::string add_http_connector(TestApp& app, const std::string& base_url, int timeout_ms) {
  return add_connector(app, [&](ConnectorTerms& terms) {
    terms.driver = DriverKind::http;
    terms.endpoint = ProviderEndpoint{base_url, Secret("shared"), timeout_ms};
  });
}

void pause_connector(TestApp& app, const std::string& id) {
  flows::change_connector(app.flows(), *ConnectorId::parse(id),
                          ConnectorChange().set<&ConnectorTerms::status>(ConnectorStatus::paused))
      .value();
}

void set_fee(TestApp& app, AssociationId association, const std::string& connector,
             TransactionType type, const char* fixed, int basis_points) {
  flows::set_fee(
      app.flows(), association, *ConnectorId::parse(connector), type,
      FeeChange().set<&FeeRule::fixed>(amount(fixed)).set<&FeeRule::basis_points>(basis_points))
      .value();
}

Json quote(const Client& client, const std::string& connector, const std::string& amount,
           const char* type) {
  const Reply reply = client.post(
      "/v1/quotes", {{"connectorId", connector}, {"amount", amount}, {"transactionType", type}});
  INFO(reply.text());
  REQUIRE(reply.status == 201);
  return reply.json();
}

}  // namespace coffer::test
