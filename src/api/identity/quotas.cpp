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
  return {{.method = "GET",
           .pattern = "/v1/quotas",
           .operation = "listQuotas",
           .tag = "Associations",
           .summary = "List the association's quotas and their usage",
           .lane = Lane::read,
           .scope = Scope::associations_read,
           .query = page_query({}),
           .responses = {{200, "QuotaList"}},
           .handler = list_quotas}};
}

}  // namespace coffer::api
