#include "api/routes.h"

#include "api/assets.h"
#include "api/associations.h"
#include "api/auth.h"
#include "api/health.h"
#include "api/openapi.h"
#include "api/payments.h"
#include "api/sandbox.h"
#include "api/statements.h"
#include "api/transactions.h"
#include "api/wallets.h"

namespace coffer::api {

const std::vector<Route>& routes() {
  static const std::vector<Route> table = [] {
    std::vector<Route> all;
    for (const auto noun :
         {auth_routes, associations_routes, assets_routes, wallets_routes, payments_routes,
          transactions_routes, statements_routes, sandbox_routes, openapi_routes, health_routes}) {
      std::vector<Route> rows = noun();
      for (Route& route : rows) all.push_back(std::move(route));
    }
    return all;
  }();
  return table;
}

}  // namespace coffer::api
