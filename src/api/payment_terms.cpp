#include "api/payment_terms.h"

#include <algorithm>

#include "api/pipeline/fields.h"
#include "api/pipeline/services.h"
#include "api/providers/provider_json.h"
#include "base/digest.h"
#include "domain/compliance.h"
#include "domain/events/event_type.h"
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

/// The same for everyone as long as this binary runs.
struct Vocabularies {
  Vocabularies() {
    body = Json{{"purposeOfPayment", terms_json(purpose_of_payment_terms())},
                {"sourceOfFunds", terms_json(source_of_funds_terms())},
                {"relationship", terms_json(relationship_terms())},
                {"idType", terms_json(id_type_terms())},
                {"entityType", terms_json(entity_type_terms())},
                {"transactionType", terms_json(transaction_type_terms())},
                {"method", terms_json(pay_method_terms())},
                {"failureCode", failure_codes()},
                {"status", terms_json(payment_status_terms())},
                {"transitions", transitions()},
                {"eventType", terms_json(event_type_terms())}}
               .dump();
    const Sha256 digest = sha256(body);
    etag = '"' + to_hex(std::span(digest).first(16)) + '"';
  }
  std::string body;
  std::string etag;
};

/// RFC 9110 section 13.1.2: a list of tags, compared weakly, or `*`.
bool has_tag(std::string_view list, std::string_view etag) {
  if (list == "*") return true;
  while (!list.empty()) {
    const auto comma = std::min(list.find(','), list.size());
    std::string_view tag = list.substr(0, comma);
    list.remove_prefix(std::min(comma + 1, list.size()));
    const auto begin = std::min(tag.find_first_not_of(" \t"), tag.size());
    tag = tag.substr(begin, tag.find_last_not_of(" \t") - begin + 1);
    if (tag.starts_with("W/")) tag.remove_prefix(2);
    if (tag == etag) return true;
  }
  return false;
}

Result<http::Response> read_enums(const Services&, const Call& call) {
  static const Vocabularies all;
  http::Response response;
  const std::string* known = call.request.header("If-None-Match");
  if (known != nullptr && has_tag(*known, all.etag)) {
    response.status = 304;
    response.content_type.clear();
  } else {
    response.body = all.body;
  }
  return response.header("ETag", all.etag);
}

/// Without a transaction type, what only some types need is not required.
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
  Faults faults;
  QueryFields query(call.request, faults);
  const auto type = query.term("transactionType", parse_transaction_type);
  const auto id = query.id<ConnectorId>("connectorId");
  if (!id && !faults.names("connectorId")) {
    faults.add(Slug::malformed_request, "connectorId", "is required");
  }
  COFFER_TRY_VOID(check(faults));
  return store::with_reader(
      services.flows.database, [&](store::Connection& db) -> Result<http::Response> {
        const auto row = store::find_connector(db, call.caller.tenant.environment, *id);
        if (!row) return unexpected(Slug::not_found, "There is no such connector.");
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
  return {{.method = "GET",
           .pattern = "/v1/payments/enums",
           .operation = "getPaymentEnums",
           .tag = "Payments",
           .summary = "Read the vocabularies",
           .scope = Scope::payments_read,
           .answers = {{200, "PaymentEnums"}, {304}},
           .handler = read_enums},
          {.method = "GET",
           .pattern = "/v1/payments/requirements",
           .operation = "getPaymentRequirements",
           .tag = "Payments",
           .summary = "Read what a connector requires of a submission",
           .scope = Scope::payments_read,
           .query = {{"connectorId", "Id", "Whose requirements", true},
                     {"transactionType", "PartyType", "Only what this transaction type needs"}},
           .answers = {{200, "PaymentRequirements"}},
           .problems = {Slug::not_found, Slug::validation_failed},
           .handler = read_requirements}};
}

}  // namespace coffer::api
