#include "flows/identity/quotas.h"

#include "api/json/json.h"
#include "api/pipeline/page.h"
#include "api/pipeline/route_groups.h"
#include "api/pipeline/services.h"

namespace coffer::api {
namespace {

Result<http::Response> list_quotas(const Services& services, const Call& call) {
  COFFER_TRY(const auto states, flows::quotas_of(services.flows, call.caller.tenant));
  std::vector<Json> data;
  for (const flows::QuotaState& state : states) {
    const QuotaInfo& row = info(state.quota);
    data.push_back({{"name", row.name},
                    {"description", row.counts},
                    {"used", state.used},
                    {"limit", state.limit == kUnlimited ? Json() : Json(state.limit)}});
  }
  return short_list_response(services, call, "quotas", std::move(data));
}

}  // namespace

std::vector<Route> quotas_routes() {
  constexpr RouteGroup kAssociations{"Associations", Scope::associations_read};
  return {with_query(kAssociations("GET", "/v1/quotas", "listQuotas",
                                   "List the association's quotas and their usage", Lane::read,
                                   {{200, "QuotaList"}}, {}, list_quotas),
                     page_query({}))};
}

}  // namespace coffer::api
