#include "flows/providers/references.h"

#include "api/json/fields.h"
#include "api/json/json.h"
#include "api/pipeline/page.h"
#include "api/pipeline/route_groups.h"
#include "api/pipeline/services.h"
#include "store/providers/references.h"

namespace coffer::api {
namespace {

constexpr std::size_t kCustomerIdMax = 128;

Json metadata_or_null(const store::ReferenceRow& row) {
  return row.metadata ? Json(*row.metadata) : Json(nullptr);
}

/// The contract's reference object, plus the fields by which a caller can find it.
Json reference_json(const store::ReferenceRow& row) {
  Json related = Json::array();
  for (const store::ReferenceRow& item : row.related) {
    related.push_back({{"reference", item.reference}, {"metadata", metadata_or_null(item)}});
  }
  return {{"reference", row.reference},
          {"routeId", row.connector_id.to_string()},
          {"metadata", metadata_or_null(row)},
          {"relatedReferences", related.empty() ? Json(nullptr) : std::move(related)},
          {"customerId", row.customer_id},
          {"settlementAccount", row.settlement_account},
          {"walletId", row.wallet_id.to_string()},
          {"createdAt", row.created_at.to_string()}};
}

Result<http::Response> register_reference(const Services& services, const Call& call) {
  Fields fields(*call.body);
  flows::NewReference request;
  request.connector = fields.id<ConnectorId>("connectorId", required).value_or(ConnectorId());
  request.settlement_account = fields.any_text("settlementAccount", required).value_or("");
  request.customer_id = fields.text("customerId", required, kCustomerIdMax).value_or("");
  fields.reject_unknown();
  COFFER_TRY_VOID(fields.check());
  COFFER_TRY(const auto row, flows::register_reference(services.flows, call.caller, request));
  return json_response(201, reference_json(row));
}

Result<http::Response> list_references(const Services& services, const Call& call) {
  QueryFields query(call.request);
  store::ReferenceFilter filter;
  filter.connector = query.id<ConnectorId>("connectorId");
  filter.customer_id = query.text("customerId");
  COFFER_TRY(const PageRequest page, read_page(services, call, query, "references"));
  return services.flows.read([&](store::Connection& db) {
    return page_response(page, store::list_references(db, call.caller.tenant, filter, page.at),
                         reference_json, [](const store::ReferenceRow& row) { return row.key; });
  });
}

}  // namespace

std::vector<Route> references_routes() {
  constexpr RouteGroup kOnRampReferences{"On-ramp references", Scope::references_read};
  return {
      {.method = "POST",
       .pattern = "/v1/onramp/references",
       .operation = "registerReference",
       .tag = "On-ramp references",
       .summary = "Register a reference for a customer's payments",
       .lane = Lane::outbound,
       .scope = Scope::references_write,
       .moves_money = true,
       .body = Body::json,
       .request_schema = "NewReference",
       .responses = {{201, "RegisteredReference"}},
       .problems = {Slug::not_found, Slug::wallet_not_verified, Slug::conflict,
                    Slug::references_exist, Slug::validation_failed, Slug::trustline_missing,
                    Slug::quota_exceeded, Slug::provider_error, Slug::provider_unavailable,
                    Slug::provider_timeout},
       .handler = register_reference},
      with_query(kOnRampReferences("GET", "/v1/onramp/references", "listReferences",
                                   "List registered references, newest first", Lane::read,
                                   {{200, "ReferenceList"}}, {}, list_references),
                 page_query({{"connectorId", "Id", "Only references of this connector"},
                             {"customerId", "PersonalText", "Only references of this customer"}}))};
}

}  // namespace coffer::api
