#include "api/json/json.h"
#include "api/pipeline/page.h"
#include "api/pipeline/route_groups.h"
#include "api/pipeline/services.h"

namespace coffer::api {
namespace {

/// The caller's own association, which is the only one that it may read.
Result<store::AssociationRow> own_association(const Services& services, const Call& call) {
  return services.flows.read([&](store::Connection& db) {
    return existing(store::find_association(db, call.caller.tenant.association), "association");
  });
}

Result<http::Response> read_association(const Services& services, const Call& call) {
  if (AssociationId::parse(call.param("id")) != call.caller.tenant.association) {
    return unexpected(Slug::not_found, "The association was not found.");
  }
  COFFER_TRY(const auto row, own_association(services, call));
  return envelope_response("Association found", association_json(row));
}

/// There is one row, so there is no cursor to another page.
Result<http::Response> list_associations(const Services& services, const Call& call) {
  QueryFields query(call.request);
  COFFER_TRY_VOID(read_page(services, call, query, "associations"));
  COFFER_TRY(const auto row, own_association(services, call));
  return envelope_response("Associations found", Json::array({association_json(row)}));
}

}  // namespace

std::vector<Route> associations_routes() {
  constexpr RouteGroup kAssociations{
      "Associations", Scope::associations_read, {}, Access::business, true};
  return {with_query(kAssociations("GET", "/v1/business/association/all", "listAssociations",
                                   "List the application's association", Lane::outbound,
                                   {{200, "AssociationListEnvelope"}}, {}, list_associations),
                     page_query({})),
          kAssociations("GET", "/v1/business/association/{id}", "getAssociation",
                        "Read the application's association", Lane::outbound,
                        {{200, "AssociationEnvelope"}}, {Slug::not_found}, read_association)};
}

}  // namespace coffer::api
