#include "api/parties/bodies.h"
#include "api/pipeline/page.h"
#include "api/pipeline/route_groups.h"
#include "api/pipeline/services.h"

namespace coffer::api {
namespace {

struct Ids {
  BeneficiaryId beneficiary;
  DestinationId destination;
};

Result<BeneficiaryId> beneficiary_id(std::string_view text) {
  return existing(BeneficiaryId::parse(text), "beneficiary");
}

Result<Ids> ids(std::string_view beneficiary, std::string_view destination) {
  COFFER_TRY(const BeneficiaryId first, beneficiary_id(beneficiary));
  COFFER_TRY(const auto second, existing(DestinationId::parse(destination), "payment destination"));
  return Ids{first, second};
}

Result<Destination> body_destination(const Services& services, const Call& call,
                                     const Destination* present = nullptr) {
  ValidationErrors errors;
  const BeneficiaryRules rules = flows::beneficiary_rules(services.flows);
  Destination destination = read_destination(*call.body, rules, "", errors, present);
  COFFER_TRY_VOID(errors.check());
  return destination;
}

Result<http::Response> list_destinations(const Services& services, const Call& call) {
  COFFER_TRY(const BeneficiaryId id, beneficiary_id(call.param("beneficiaryId")));
  QueryFields query(call.request);
  const auto method = query.term("method", parse_destination_method);
  COFFER_TRY_VOID(query.check());
  return services.flows.read([&](store::Connection& db) -> Result<http::Response> {
    COFFER_TRY(const auto beneficiary, flows::live_beneficiary(db, call.caller.tenant, id));
    std::vector<Json> rows;
    for (const auto& row : store::destinations_of(db, beneficiary.key, method)) {
      rows.push_back(destination_json(row, Shown::masked));
    }
    const std::string list = "destinations " + id.to_string();
    return short_list_response(services, call, list, std::move(rows));
  });
}

Result<http::Response> create_destination(const Services& services, const Call& call) {
  COFFER_TRY(const BeneficiaryId id, beneficiary_id(call.param("beneficiaryId")));
  COFFER_TRY(const Destination destination, body_destination(services, call));
  COFFER_TRY(const auto row,
             flows::add_destination(services.flows, call.caller.tenant, id, destination));
  return json_response(201, destination_json(row, Shown::whole));
}

Result<http::Response> read_one_destination(const Services& services, const Call& call) {
  COFFER_TRY(const Ids id, ids(call.param("beneficiaryId"), call.param("destinationId")));
  return services.flows.read([&](store::Connection& db) -> Result<http::Response> {
    // Archiving a beneficiary archives its destinations.
    COFFER_TRY(const auto row,
               flows::live_destination(db, call.caller.tenant, id.beneficiary, id.destination));
    return json_response(200, destination_json(row, Shown::whole));
  });
}

Result<http::Response> delete_destination(const Services& services, const Call& call) {
  COFFER_TRY(const Ids id, ids(call.param("beneficiaryId"), call.param("destinationId")));
  COFFER_TRY_VOID(flows::archive_destination(services.flows, call.caller.tenant, id.beneficiary,
                                             id.destination));
  return empty_response();
}

Result<http::Response> replace_destination(const Services& services, const Call& call) {
  if (AssociationId::parse(call.param("associationId")) != call.caller.tenant.association) {
    return unexpected(Slug::not_found, "The association was not found.");
  }
  COFFER_TRY(const Ids id, ids(call.param("id"), call.param("destId")));
  COFFER_TRY(const auto row,
             flows::revise_destination(services.flows, call.caller.tenant, id.beneficiary,
                                       id.destination, [&](const Destination& present) {
                                         return body_destination(services, call, &present);
                                       }));
  return envelope_response("Payment destination updated", destination_json(row, Shown::whole));
}

}  // namespace

std::vector<Route> destinations_routes() {
  constexpr RouteGroup kBeneficiaries{"Beneficiaries", Scope::beneficiaries_read,
                                      Scope::beneficiaries_write};
  constexpr RouteGroup kBeneficiariesBusiness{
      "Beneficiaries", {}, Scope::beneficiaries_write, Access::business, true};
  constexpr std::string_view kOne =
      "/v1/beneficiaries/{beneficiaryId}/payment-destinations/{destinationId}";
  constexpr std::string_view kAll = "/v1/beneficiaries/{beneficiaryId}/payment-destinations";
  return {
      with_query(
          kBeneficiaries("GET", kAll, "listDestinations",
                         "List a beneficiary's payment destinations, masked", Lane::read,
                         {{200, "DestinationList"}}, {Slug::not_found}, list_destinations),
          page_query({{"method", "DestinationMethodIn", "Only destinations of this method"}})),
      with_body(kBeneficiaries("POST", kAll, "createDestination", "Add a payment destination",
                               Lane::money, {{201, "Destination"}},
                               {Slug::not_found, Slug::conflict, Slug::validation_failed,
                                Slug::quota_exceeded},
                               create_destination),
                "NewDestination"),
      kBeneficiaries("GET", kOne, "getDestination", "Read a payment destination", Lane::read,
                     {{200, "Destination"}}, {Slug::not_found}, read_one_destination),
      kBeneficiaries("DELETE", kOne, "deleteDestination", "Archive a payment destination",
                     Lane::money, {{204}}, {Slug::not_found}, delete_destination),
      with_body(kBeneficiariesBusiness(
                    "PUT",
                    "/v1/business/beneficiaries/{associationId}/{id}/payment-destinations/{destId}",
                    "replaceDestination", "Replace a payment destination", Lane::outbound,
                    {{200, "DestinationEnvelope"}},
                    {Slug::not_found, Slug::validation_failed, Slug::quota_exceeded},
                    replace_destination),
                "NewDestination")};
}

}  // namespace coffer::api
