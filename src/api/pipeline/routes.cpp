#include "api/pipeline/routes.h"

#include <algorithm>
#include <array>

#include "api/pipeline/route_groups.h"
#include "base/check.h"

namespace coffer::api {
namespace {

constexpr std::array<PathParam, 18> kPathParams{{
    {"walletId", "Id", "The wallet"},
    {"transactionId", "Id", "ID of the transaction record (`transactionRecordId`)"},
    {"transactionRecordId", "Id", "ID of the transaction record of the payment"},
    {"id", "Id", "ID of the association, application or beneficiary in the path"},
    {"assetCode", "AssetCode", "The asset"},
    {"beneficiaryId", "Id", "The beneficiary"},
    {"destinationId", "Id", "The payment destination"},
    {"associationId", "Id", "The association"},
    {"destId", "Id", "The payment destination"},
    {"connectorId", "Id", "The connector"},
    {"quoteId", "Id", "The quote"},
    {"webhookId", "Id", "The webhook"},
    {"deliveryId", "Id", "ID of the delivery, equal to the ID of its event"},
    {"eventId", "Id", "The event"},
    {"reference", "Text", "The reference"},
    {"type", "EventType", "Event type"},
    {"method", "PayMethodFilter", "The payment method"},
    {"direction", "QuoteDirection", "Whether `amount` is the amount to send or to receive"},
}};

}  // namespace

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
                            health_routes,         pages_routes,
                            reversals_routes}) {
      std::vector<Route> rows = noun();
      for (Route& route : rows) all.push_back(std::move(route));
    }
    return all;
  }();
  return table;
}

const PathParam& find_path_param(std::string_view name) {
  const auto it = std::ranges::find(kPathParams, name, &PathParam::name);
  COFFER_CHECK(it != kPathParams.end());
  return *it;
}

const Route& find_operation(std::string_view operation) {
  for (const Route& route : routes()) {
    if (route.operation == operation) return route;
  }
  throw InternalError("no route has the operation " + std::string(operation));
}

}  // namespace coffer::api
