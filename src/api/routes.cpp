#include "api/routes.h"

#include "api/route_groups.h"
#include "base/check.h"

namespace coffer::api {

const std::vector<Route>& routes() {
  static const std::vector<Route> table = [] {
    std::vector<Route> all;
    for (const auto noun : {auth_routes,           login_routes,
                            associations_routes,   quotas_routes,
                            assets_routes,         wallets_routes,
                            beneficiaries_routes,  destinations_routes,
                            connectors_routes,     quotes_routes,
                            payment_terms_routes,  connect_routes,
                            payments_routes,       references_routes,
                            connect_onramp_routes, callbacks_routes,
                            transactions_routes,   statements_routes,
                            webhooks_routes,       application_webhooks_routes,
                            deliveries_routes,     events_routes,
                            sandbox_routes,        openapi_routes,
                            health_routes,         pages_routes}) {
      std::vector<Route> rows = noun();
      for (Route& route : rows) all.push_back(std::move(route));
    }
    return all;
  }();
  return table;
}

const Route& find_operation(std::string_view operation) {
  for (const Route& route : routes()) {
    if (route.operation == operation) return route;
  }
  throw InternalError("no route has the operation " + std::string(operation));
}

}  // namespace coffer::api
