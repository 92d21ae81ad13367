#include "store/providers/connectors.h"

#include <algorithm>

#include "api/payments/provider_json.h"
#include "api/pipeline/page.h"
#include "api/pipeline/route_groups.h"
#include "api/pipeline/services.h"
#include "domain/country.h"

namespace coffer::api {
namespace {

std::optional<std::string> country_filter(QueryFields& query) {
  const auto text = query.text("countryIsoCode2");
  if (!text) return std::nullopt;
  auto code = parse_country_alpha2(*text);
  if (code) return *std::move(code);
  query.add_error(code.error().slug, "countryIsoCode2", code.error().detail);
  return std::nullopt;
}

Result<http::Response> list_connectors(const Services& services, const Call& call) {
  QueryFields query(call.request);
  store::ConnectorFilter filter;
  filter.country = country_filter(query);
  filter.direction = query.term("direction", parse_term_in_any_case<Direction>);
  filter.method = query.term("method", parse_pay_method);
  filter.asset = query.asset_code("assetCode");
  filter.flow = query.term("flow", parse_term_in_any_case<ConnectorFlow>);
  COFFER_TRY(const PageRequest page, read_page(services, call, query, "connectors"));
  return services.flows.read([&](store::Connection& db) {
    return page_response(
        page, store::list_connectors(db, call.caller.tenant.environment, filter, page.at),
        [](const store::ConnectorRow& row) { return connector_json(row.terms); },
        [](const store::ConnectorRow& row) { return row.terms.key; });
  });
}

Result<http::Response> read_connector(const Services& services, const Call& call) {
  COFFER_TRY(const auto id, existing(ConnectorId::parse(call.param("connectorId")), "connector"));
  QueryFields query(call.request);
  const auto type = query.term("transactionType", parse_term_in_any_case<TransactionType>);
  COFFER_TRY_VOID(query.check());
  return services.flows.read([&](store::Connection& db) -> Result<http::Response> {
    COFFER_TRY(
        const auto row,
        existing(store::find_connector(db, call.caller.tenant.environment, id), "connector"));
    Json body = connector_json(row.terms);
    body["executionSteps"] =
        steps_json(execution_steps(row.terms, store::requirements_of(db, row.terms.key), type));
    return json_response(200, body);
  });
}

Result<http::Response> list_for_beneficiary(const Services& services, const Call& call) {
  const auto method = parse_pay_method(call.param("method"));
  if (!method) {
    return unexpected(Problem(Slug::malformed_request, "The payment method in the path is unknown.",
                              {{"method", "must be a payment method of GET /v1/payments/enums"}}));
  }
  const auto id = BeneficiaryId::parse(call.param("beneficiaryId"));
  return services.flows.read([&](store::Connection& db) -> Result<http::Response> {
    COFFER_TRY(const auto party,
               existing(id ? store::find_quote_party(db, call.caller.tenant, *id) : std::nullopt,
                        "beneficiary"));
    const auto destinations = store::quote_destinations(db, party.beneficiary);
    const store::ConnectorFilter filter{.direction = Direction::off_ramp, .method = *method};
    constexpr int kAll = 1'000'000;
    std::vector<Json> data;
    for (const store::ConnectorRow& row :
         store::list_connectors(db, call.caller.tenant.environment, filter, {.limit = kAll}).rows) {
      const bool usable =
          row.terms.status == ConnectorStatus::active &&
          std::ranges::any_of(destinations, [&](const store::QuoteDestination& destination) {
            return flows::fits(row.terms, destination);
          });
      if (usable) data.push_back(connector_json(row.terms));
    }
    const std::string list = "connectors " + id->to_string() + ' ' + std::string(name(*method));
    return short_list_response(services, call, list, std::move(data));
  });
}

}  // namespace

std::vector<Route> connectors_routes() {
  constexpr RouteGroup kConnectors{"Connectors", Scope::connectors_read};
  return {
      with_query(
          kConnectors("GET", "/v1/connectors", "listConnectors", "List connectors", Lane::read,
                      {{200, "ConnectorList"}}, {Slug::validation_failed}, list_connectors),
          page_query({{"countryIsoCode2", "CountryFilter", "Only connectors of this country"},
                      {"direction", "ConnectorDirection", "Only off-ramps or only on-ramps"},
                      {"method", "PayMethodFilter", "Only this payment method"},
                      {"assetCode", "AssetCode", "Only connectors of this asset"},
                      {"flow", "ConnectorFlow", "Only quoted or only bespoke connectors"}})),
      with_query(
          kConnectors("GET", "/v1/connectors/{connectorId}", "getConnector",
                      "Read a connector with its execution steps", Lane::read,
                      {{200, "ConnectorDetail"}}, {Slug::not_found}, read_connector),
          {{"transactionType", "PartyType", "Only steps and fields for this transaction type"}}),
      with_query(
          kConnectors("GET", "/v1/connectors/beneficiary/{beneficiaryId}/{method}",
                      "listConnectorsForBeneficiary",
                      "List connectors that can pay a beneficiary by this method", Lane::read,
                      {{200, "ConnectorList"}}, {Slug::not_found}, list_for_beneficiary),
          page_query({})),
  };
}

}  // namespace coffer::api
