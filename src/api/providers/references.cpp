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
  constexpr RouteGroup kReferences{"On-ramp references", Scope::references_read,
                                   Scope::references_write};
  Route registers =
      with_body(kReferences("POST", "/v1/onramp/references", "registerReference",
                            "Register a reference for a customer's payments", Lane::outbound,
                            {{201, "RegisteredReference"}},
                            {Slug::not_found, Slug::wallet_not_verified, Slug::conflict,
                             Slug::references_exist, Slug::validation_failed,
                             Slug::trustline_missing, Slug::quota_exceeded, Slug::provider_error,
                             Slug::provider_unavailable, Slug::provider_timeout},
                            register_reference),
                "NewReference");
  registers.moves_money = true;
  return {
      std::move(registers),
      with_query(kReferences("GET", "/v1/onramp/references", "listReferences",
                             "List registered references, newest first", Lane::read,
                             {{200, "ReferenceList"}}, {}, list_references),
                 page_query({{"connectorId", "Id", "Only references of this connector"},
                             {"customerId", "PersonalText", "Only references of this customer"}}))};
}

}  // namespace coffer::api
