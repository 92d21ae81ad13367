
#include "api/json/fields.h"
#include "api/payments/provider_json.h"
#include "api/pipeline/page.h"
#include "api/pipeline/route_groups.h"
#include "api/pipeline/services.h"
#include "domain/payments/compliance.h"
#include "domain/webhooks/event_type.h"
#include "http/document.h"
#include "store/providers/connectors.h"

namespace coffer::api {
namespace {

Json failure_codes() {
  Json out = Json::array();
  for (const FailureInfo& failure : failure_table()) {
    out.push_back({{"code", failure.name}, {"label", failure.label}});
  }
  return out;
}

Json transitions() {
  Json out = Json::array();
  for (const Transition& transition : payment_transitions()) {
    out.push_back({{"from", name(transition.from)}, {"to", name(transition.to)}});
  }
  return out;
}

std::string vocabularies_text() {
  return Json{{"purposeOfPayment", terms_json(purpose_of_payment_terms())},
              {"sourceOfFunds", terms_json(source_of_funds_terms())},
              {"relationship", terms_json(relationship_terms())},
              {"idType", terms_json(id_type_terms())},
              {"entityType", terms_json(terms<EntityType>())},
              {"transactionType", terms_json(terms<TransactionType>())},
              {"method", terms_json(terms<PayMethod>())},
              {"failureCode", failure_codes()},
              {"status", terms_json(terms<PaymentStatus>())},
              {"transitions", transitions()},
              {"eventType", terms_json(event_type_terms())}}
      .dump();
}

/// All vocabularies are on one page, so there is no cursor to another.
Result<http::Response> read_enums(const Services& services, const Call& call) {
  QueryFields query(call.request);
  COFFER_TRY_VOID(read_page(services, call, query, "enums"));
  static const http::Document document("application/json", vocabularies_text());
  return document.respond(call.request);
}

/// Without a transaction type, fields that only some types require are optional.
std::vector<Requirement> asked(std::vector<Requirement> requirements, const ConnectorTerms& terms,
                               std::optional<TransactionType> type) {
  requirements = applicable(requirements, type);
  if (type) return requirements;
  for (Requirement& requirement : requirements) {
    const bool always = (requirement.types & terms.types) == terms.types;
    requirement.required = requirement.required && always;
  }
  return requirements;
}

Result<http::Response> read_requirements(const Services& services, const Call& call) {
  QueryFields query(call.request);
  const auto type = query.term("transactionType", parse_term_in_any_case<TransactionType>);
  const auto id = query.id<ConnectorId>("connectorId");
  if (!id && !query.errors().names("connectorId")) {
    query.add_error(Slug::malformed_request, "connectorId", "is required");
  }
  COFFER_TRY_VOID(query.check());
  return services.flows.read([&](store::Connection& db) -> Result<http::Response> {
    const auto row = store::find_connector(db, call.caller.tenant.environment, *id);
    if (!row) return unexpected(Slug::not_found, "The connector was not found.");
    if (type && !contains(row->terms.types, *type)) {
      return unexpected(Problem(Slug::validation_failed,
                                "The connector does not support this transaction type.",
                                {{"transactionType", "is not supported by this connector"}}));
    }
    const auto fields = asked(store::requirements_of(db, row->terms.key), row->terms, type);
    return json_response(200, {{"connectorId", id->to_string()},
                               {"transactionType", type ? Json(name(*type)) : Json(nullptr)},
                               {"fields", requirement_fields_json(fields)},
                               {"jsonSchema", requirement_schema_json(fields)}});
  });
}

}  // namespace

std::vector<Route> payment_terms_routes() {
  constexpr RouteGroup kPayments{"Payments", Scope::payments_read};
  return {
      with_query(kPayments("GET", "/v1/payments/enums", "getPaymentEnums", "List the vocabularies",
                           Lane::read, {{200, "PaymentEnums"}, {304}}, {}, read_enums),
                 page_query({})),
      with_query(
          kPayments("GET", "/v1/payments/requirements", "getPaymentRequirements",
                    "List the fields that a connector requires", Lane::read,
                    {{200, "PaymentRequirements"}}, {Slug::not_found, Slug::validation_failed},
                    read_requirements),
          {{"connectorId", "Id", "The connector", true},
           {"transactionType", "PartyType", "Only steps and fields for this transaction type"}})};
}

}  // namespace coffer::api
