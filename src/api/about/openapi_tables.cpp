#include "api/about/openapi_tables.h"

#include "base/check.h"
#include "domain/ledger/wallet.h"
#include "domain/parties/beneficiary.h"
#include "domain/payments/compliance.h"
#include "domain/providers/connector.h"
#include "domain/webhooks/event_type.h"
#include "domain/webhooks/webhook.h"
#include "http/problem_json.h"

namespace coffer::api {
namespace {

// Vocabularies ------------------------------------------------------------------------------------

template <class Rows, class Code>
Json codes(const Rows& rows, Code code) {
  Json out = Json::array();
  for (const auto& row : rows) out.push_back(code(row));
  return out;
}

Json event_types_about(EventSubject subject) {
  Json out = Json::array();
  for (const EventTypeRow& row : event_types()) {
    if (row.subject == subject) out.push_back(row.term.code);
  }
  return out;
}

Json vocabularies() {
  return {
      {"ApplicationEventType", event_types_about(EventSubject::application)},
      {"ConnectorDirection", term_codes(terms<Direction>())},
      {"ConnectorFlow", term_codes(terms<ConnectorFlow>())},
      {"ConnectorStatus", term_codes(terms<ConnectorStatus>())},
      {"DeliveryStatus", term_codes(terms<DeliveryState>())},
      {"DestinationMethod", term_codes(terms<DestinationMethod>())},
      {"DisabledReason", term_codes(terms<DisableReason>())},
      {"EventType", term_codes(event_type_terms())},
      {"FailureCode", codes(failure_table(), [](const FailureInfo& row) { return row.name; })},
      {"PartyType", term_codes(terms<TransactionType>())},
      {"PayMethod", term_codes(terms<PayMethod>())},
      {"PaymentEventType", event_types_about(EventSubject::payment)},
      {"ProblemCode",
       codes(slug_table(), [](const SlugInfo& slug) { return http::problem_code(slug); })},
      {"PurposeOfPayment", term_codes(purpose_of_payment_terms())},
      {"Relationship", term_codes(relationship_terms())},
      {"RequirementType", term_codes(terms<Requirement::Type>())},
      {"SourceOfFunds", term_codes(source_of_funds_terms())},
      {"TransactionStatus", term_codes(terms<PaymentStatus>())},
      {"TransactionType", term_codes(terms<PaymentType>())},
      {"WalletEventType", event_types_about(EventSubject::wallet)},
      {"WalletStatus", term_codes(terms<WalletStatus>())},
      {"WebhookEventType", event_types_about(EventSubject::webhook)},
  };
}

const Json& codes_of(const Json& reference, const Json& known) {
  return known.at(reference.at("terms").get<std::string>());
}

Json expanded(const Json& values, const Json& known) {
  Json out = Json::array();
  for (const Json& value : values) {
    if (!value.is_object()) {
      out.push_back(value);
      continue;
    }
    for (const Json& code : codes_of(value, known)) out.push_back(code);
  }
  return out;
}

void add_terms(Json& node, const Json& known) {
  if (!node.is_structured()) return;
  if (node.is_object() && node.contains("const") && node.at("const").is_object()) {
    const Json& all = codes_of(node.at("const"), known);
    if (all.size() == 1) {
      node["const"] = all.front();
    } else {
      node.erase("const");
      node["enum"] = all;
    }
  }
  for (auto& [name, value] : node.items()) {
    if (name == "enum" && value.is_array()) {
      value = expanded(value, known);
    } else {
      add_terms(value, known);
    }
  }
}

// Text members ------------------------------------------------------------------------------------

/// Where a schema is used.
enum class Use {
  both,      // in requests and responses
  request,   // null counts as absent
  change,    // a change of existing data, in which nothing is required
  response,  // data that was validated earlier
};

Json country_property(bool nullable) {
  const Json country{{"$ref", "#/components/schemas/Country"}};
  if (!nullable) return country;
  return {{"anyOf", Json::array({country, {{"type", "null"}}})}};
}

Json property(const TextFact& fact, Use use) {
  const bool nullable = use == Use::change || (use == Use::request && !fact.required);
  const bool response = use == Use::response;
  const bool alpha3 = fact.rule.kind == TextKind::country_alpha3;
  Json out = alpha3 ? country_property(nullable) : Json::object();
  if (!alpha3) out["type"] = nullable ? Json::array({"string", "null"}) : Json("string");
  std::string description(fact.description);
  switch (fact.rule.kind) {
    case TextKind::any:
    case TextKind::iban:
    case TextKind::bic:
      if (use != Use::both) out["minLength"] = 1;
      out["maxLength"] = fact.rule.length_max;
      break;
    case TextKind::email:
      out["format"] = "email";
      if (!response) out["maxLength"] = fact.rule.length_max;
      break;
    case TextKind::date_of_birth:
      out["format"] = "date";
      break;
    case TextKind::phone:
      // A masked number means the present one.
      out["pattern"] = fact.rule.masked && !response ? "^(\\+[1-9][0-9]{6,14}|\\*+[0-9]{0,4})$"
                                                     : "^\\+[1-9][0-9]{6,14}$";
      break;
    case TextKind::country_alpha2:
      out["pattern"] = response ? "^[A-Z]{2}$" : "^\\s*[A-Za-z]{2}\\s*$";
      if (!response) description += ", in any case";
      break;
    case TextKind::country_alpha3:
      break;
  }
  out["description"] = description;
  const bool sampled = use == Use::response || (use != Use::change && fact.required);
  if (sampled && !fact.example.empty()) out["examples"] = Json::array({fact.example});
  return out;
}

/// Whether the member identifies a person or a company. Countries and banks do not.
bool is_personal(const TextFact& fact) {
  switch (fact.rule.kind) {
    case TextKind::any:
    case TextKind::date_of_birth:
    case TextKind::email:
    case TextKind::phone:
    case TextKind::iban:
      return true;
    case TextKind::country_alpha2:
    case TextKind::country_alpha3:
    case TextKind::bic:
      return false;
  }
  throw InternalError("unknown kind of text");
}

template <class Noun>
void add_to(Json& schema, Use use) {
  Json written = schema.at("properties");
  Json all = Json::object();
  for (const TextFact& fact : TextFields<Noun>::rows) {
    const std::string name(fact.name);
    all[name] = written.contains(name) ? written.at(name) : property(fact, use);
    if (is_personal(fact)) all[name]["x-sensitive"] = "personal";
    written.erase(name);
    if (use != Use::change && fact.required) schema.at("required").push_back(name);
  }
  written.update(all);
  schema["properties"] = std::move(written);
}

}  // namespace

void add_terms(Json& schemas) { add_terms(schemas, vocabularies()); }

void add_text_properties(Json& schemas) {
  add_to<PersonMetadata>(schemas.at("PersonMetadata"), Use::both);
  add_to<BusinessMetadata>(schemas.at("BusinessMetadata"), Use::both);

  add_to<Individual>(schemas.at("NewIndividual"), Use::request);
  add_to<Individual>(schemas.at("Individual"), Use::response);
  add_to<Company>(schemas.at("NewCompany"), Use::request);
  add_to<Company>(schemas.at("Company"), Use::response);
  add_to<Address>(schemas.at("NewAddress"), Use::request);
  add_to<Address>(schemas.at("Address"), Use::response);
  Json& change = schemas.at("BeneficiaryPatch").at("properties");
  add_to<Individual>(change.at("individual"), Use::change);
  add_to<Company>(change.at("business"), Use::change);

  add_to<BankDetails>(schemas.at("NewBankDetails"), Use::request);
  add_to<BankDetails>(schemas.at("BankDetails"), Use::response);
  add_to<MobileMoneyDetails>(schemas.at("NewMobileMoneyDetails"), Use::request);
  add_to<MobileMoneyDetails>(schemas.at("MobileMoneyDetails"), Use::response);
  // These members may be in `crypto` or next to it, so neither place requires them.
  add_to<CryptoDetails>(schemas.at("NewCryptoDetails"), Use::change);
  add_to<CryptoDetails>(schemas.at("NewDestination"), Use::change);
  add_to<CryptoDetails>(schemas.at("CryptoDetails"), Use::response);
}

}  // namespace coffer::api
