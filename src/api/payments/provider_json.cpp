#include "api/payments/provider_json.h"

#include <algorithm>

namespace coffer::api {
namespace {

/// A decimal number in JSON syntax, for values sent as strings.
constexpr const char* kDecimalPattern = "^-?(0|[1-9][0-9]*)(\\.[0-9]+)?([eE][+-]?[0-9]+)?$";

Json codes_of(const std::vector<Requirement::Choice>& choices) {
  Json codes = Json::array();
  for (const Requirement::Choice& choice : choices) codes.push_back(choice.code);
  return codes;
}

Json text_schema(const Requirement& requirement) {
  Json schema{{"type", "string"},
              {"minLength", std::max(1, requirement.min_length.value_or(1))},
              {"maxLength", requirement.max_length.value_or(kRequirementLengthMax)}};
  // coffer's patterns match the whole value; a JSON Schema pattern matches any part.
  if (requirement.pattern) schema["pattern"] = "^(?:" + *requirement.pattern + ")$";
  if (!requirement.choices.empty()) schema["enum"] = codes_of(requirement.choices);
  return schema;
}

Json schema_of(const Requirement& requirement) {
  Json schema;
  switch (requirement.type) {
    case Requirement::Type::text:
      schema = text_schema(requirement);
      break;
    case Requirement::Type::number:
      schema = {{"type", {"number", "string"}}, {"pattern", kDecimalPattern}};
      break;
    case Requirement::Type::boolean:
      schema = {{"enum", {true, false, "true", "false"}}};
      break;
  }
  schema["title"] = requirement.label;
  if (!requirement.description.empty()) schema["description"] = requirement.description;
  return schema;
}

}  // namespace

Json connector_json(const ConnectorTerms& connector) {
  Json out = Json::object();
  each_member<ConnectorTerms>([&](const auto& row) {
    if (!row.is(MemberFlag::in_api)) return;
    std::visit(
        [&]<class Value>(const Value& value) {
          if constexpr (!std::is_same_v<Value, std::monostate>) out[std::string(row.name)] = value;
        },
        shown_member(row.of(connector), connector.send_decimals()));
  });
  Json& types = out["transactionTypes"] = Json::array();
  for (const Term& term : terms<TransactionType>()) {
    if (contains(connector.types, *parse_term<TransactionType>(term.code)))
      types.push_back(term.code);
  }
  out["environment"] = name(connector.environment);
  return out;
}

Json steps_json(std::span<const ExecutionStep> steps) {
  Json out = Json::array();
  int order = 1;
  for (const ExecutionStep& step : steps) {
    out.push_back({{"order", order++},
                   {"type", step.type},
                   {"title", step.title},
                   {"description", step.description},
                   {"requiredFields", step.required_fields}});
  }
  return out;
}

Json quote_json(const flows::Quoted& quoted, Timestamp now) {
  const store::QuoteRow& quote = quoted.quote;
  const ConnectorTerms& connector = quoted.connector;
  const int send = connector.send_decimals();
  Json out{{"quoteId", quote.id.to_string()},
           {"type", connector.direction == Direction::off_ramp ? "offramp" : "onramp"},
           {"connectorId", connector.id.to_string()}};
  if (quote.beneficiary_id) out["beneficiaryId"] = quote.beneficiary_id->to_string();
  if (quote.destination_id) out["destinationId"] = quote.destination_id->to_string();
  if (quote.type) out["transactionType"] = name(*quote.type);
  out["sendAssetCode"] = connector.send_code();
  out["sendAmount"] = quote.price.send.to_string(send);
  out["receiveCurrency"] = connector.receive_code();
  out["receiveAmount"] = quote.price.receive.to_string(connector.receive_decimals());
  out["rate"] = quote.price.rate.to_string();
  out["fee"] = quote.price.fee.to_string(send);
  out["total"] = quote.price.total.to_string(send);
  out["expiresAt"] = quote.expires_at.to_string();
  out["createdAt"] = quote.created_at.to_string();
  out["status"] = name(quote.status(now));
  return out;
}

Json terms_json(std::span<const Term> terms) {
  Json out = Json::array();
  for (const Term& term : terms) out.push_back({{"code", term.code}, {"label", term.label}});
  return out;
}

Json requirement_fields_json(std::span<const Requirement> requirements) {
  Json out = Json::array();
  for (const Requirement& requirement : requirements) {
    Json field{{"name", requirement.name},       {"path", "additionalFields." + requirement.name},
               {"type", name(requirement.type)}, {"required", requirement.required},
               {"label", requirement.label},     {"description", requirement.description}};
    if (requirement.pattern) field["pattern"] = *requirement.pattern;
    if (requirement.type == Requirement::Type::text) {
      field["minLength"] = std::max(1, requirement.min_length.value_or(1));
      field["maxLength"] = requirement.max_length.value_or(kRequirementLengthMax);
    }
    if (!requirement.choices.empty()) {
      Json& choices = field["choices"] = Json::array();
      for (const auto& [code, label] : requirement.choices) {
        choices.push_back({{"code", code}, {"label", label}});
      }
    }
    out.push_back(std::move(field));
  }
  return out;
}

Json requirement_schema_json(std::span<const Requirement> requirements) {
  Json properties = Json::object();
  Json required_names = Json::array();
  for (const Requirement& requirement : requirements) {
    properties[requirement.name] = schema_of(requirement);
    if (requirement.required) required_names.push_back(requirement.name);
  }
  Json schema{{"$schema", "https://json-schema.org/draft/2020-12/schema"}, {"type", "object"}};
  Json& fields = schema["properties"]["additionalFields"];
  fields = {{"type", "object"}, {"properties", std::move(properties)}};
  fields["additionalProperties"] = false;
  if (!required_names.empty()) {
    fields["required"] = std::move(required_names);
    schema["required"] = {"additionalFields"};
  }
  return schema;
}

}  // namespace coffer::api
