#include <map>
#include <set>

#include "api/json/json.h"
#include "api/ledger/wallets.h"
#include "api/pipeline/page.h"
#include "api/pipeline/route_groups.h"
#include "api/pipeline/services.h"
#include "domain/country.h"
#include "store/providers/connectors.h"

namespace coffer::api {
namespace {

/// Currencies, methods and directions of the active connectors in one country.
struct Offer {
  std::set<std::string> currencies;
  std::set<PayMethod> methods;
  std::set<Direction> directions;
};

Json country_json(const std::string& alpha2, const Offer& offer) {
  Json methods = Json::array();
  for (const PayMethod method : offer.methods) methods.push_back(name(method));
  Json directions = Json::array();
  for (const Direction direction : offer.directions) directions.push_back(name(direction));
  const Country* country = find_country(alpha2);
  return {{"countryIsoCode2", alpha2},     {"countryIsoCode3", country->alpha3},
          {"name", country->name},         {"currencies", offer.currencies},
          {"methods", std::move(methods)}, {"directions", std::move(directions)}};
}

Result<http::Response> platform_health(const Services& services, const Call& call) {
  const Health health = services.health();
  Json checks = Json::array();
  for (const Health::Check& check : health.checks) {
    checks.push_back({{"name", check.name}, {"ok", check.ok}});
  }
  return json_response(200, {{"status", health.ok() ? "ok" : "degraded"},
                             {"environment", name(call.caller.tenant.environment)},
                             {"time", services.flows.clock.machine_now().to_string()},
                             {"checks", std::move(checks)}});
}

Result<http::Response> list_countries(const Services& services, const Call& call) {
  return services.flows.read([&](store::Connection& db) -> Result<http::Response> {
    constexpr int kAll = 1'000'000;
    std::map<std::string, Offer> offers;
    for (const store::ConnectorRow& row :
         store::list_connectors(db, call.caller.tenant.environment, {}, {.limit = kAll}).rows) {
      if (row.terms.status == ConnectorStatus::paused) continue;
      Offer& offer = offers[row.terms.country];
      offer.currencies.insert(row.terms.currency);
      offer.methods.insert(row.terms.method);
      offer.directions.insert(row.terms.direction);
    }
    std::vector<Json> rows;
    for (const auto& [alpha2, offer] : offers) rows.push_back(country_json(alpha2, offer));
    return short_list_response(services, call, "countries", std::move(rows));
  });
}

}  // namespace

std::vector<Route> connect_routes() {
  constexpr RouteGroup kConnect{"Connect", Scope::connect_read, {}, Access::connect};
  return {kConnect("GET", "/v1/connect-platform/health", "getConnectHealth",
                   "Read the health of the platform", Lane::read, {{200, "ConnectHealth"}}, {},
                   platform_health),
          with_query(kConnect("GET", "/v1/connect-countries", "listConnectCountries",
                              "List countries with active connectors", Lane::read,
                              {{200, "ConnectCountryList"}}, {}, list_countries),
                     page_query({})),
          with_query(kConnect("GET", "/v1/connect-assets", "listConnectAssets",
                              "List the registered assets", Lane::read, {{200, "AssetList"}}, {},
                              list_assets),
                     page_query({}))};
}

}  // namespace coffer::api
