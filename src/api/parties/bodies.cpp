#include "api/parties/bodies.h"

#include <algorithm>

#include "api/json/fields.h"
#include "base/check.h"

namespace coffer::api {
namespace {

std::string place(const char* name, std::size_t index) {
  return std::string(name) + "[" + std::to_string(index) + "]";
}

BeneficiaryInput read_input(Fields& fields) {
  BeneficiaryInput input;
  input.individual = read_inner_texts<Individual>(fields, "individual");
  input.business = read_inner_texts<Company>(fields, "business");
  input.client_reference = fields.text("clientReference", optional, kAnyText);
  if (const auto* addresses = fields.array("addresses", optional)) {
    for (std::size_t i = 0; i < addresses->size(); ++i) {
      Fields address((*addresses)[i], fields.errors(), place("addresses", i) + ".");
      read_texts<Address>(address, input.addresses.emplace_back());
    }
  }
  if (const auto* tags = fields.array("tags", optional)) {
    for (std::size_t i = 0; i < tags->size(); ++i) {
      const http::JsonValue& tag = (*tags)[i];
      input.tags.push_back(tag.string() != nullptr ? std::optional(*tag.string()) : std::nullopt);
      if (tag.string() != nullptr) continue;
      fields.add_error(Slug::malformed_request, place("tags", i),
                       "must be a string, not " + std::string(tag.type_name()));
    }
  }
  return input;
}

/// Rejects IDs of the platform's internal tables (docs/contract.md#destinations).
void reject_internal_ids(Fields& fields) {
  for (const char* id : {"networkId", "assetId", "connectorId"}) {
    if (fields.find(id) == nullptr) continue;
    fields.add_error(Slug::malformed_request, id,
                     "is not accepted; send networkName, assetSymbol and walletAddress");
  }
}

/// The one of `present` that the body names by its ID; nullptr if it names none.
const Destination* named_destination(const http::JsonValue& body,
                                     const std::vector<store::DestinationRow>& present) {
  const http::JsonValue* id = body.find("id");
  if (id == nullptr || id->string() == nullptr) return nullptr;
  const auto named = DestinationId::parse(*id->string());
  const auto row = std::ranges::find_if(present, [&](const auto& one) { return one.id == named; });
  return row == present.end() ? nullptr : &row->detail;
}

std::optional<std::vector<Destination>> read_destinations(
    Fields& fields, const BeneficiaryRules& rules,
    const std::vector<store::DestinationRow>& present) {
  const auto* list = fields.array("paymentDestinations", optional);
  if (list == nullptr) return std::nullopt;
  std::vector<Destination> out;
  if (list->size() > kDestinationsMax) {
    fields.add_error(Slug::malformed_request, "paymentDestinations",
                     "must have at most " + std::to_string(kDestinationsMax) + " destinations");
    return out;
  }
  for (std::size_t i = 0; i < list->size(); ++i) {
    out.push_back(read_destination((*list)[i], rules, place("paymentDestinations", i) + ".",
                                   fields.errors(), named_destination((*list)[i], present)));
  }
  return out;
}

/// Adds the member only if there is a value.
void put_text(Json& object, const char* name, const std::optional<std::string>& value) {
  if (value) object[name] = *value;
}

const char* details_member(DestinationMethod method) {
  switch (method) {
    case DestinationMethod::bank:
      return "bank";
    case DestinationMethod::mobile_money:
      return "mobileMoney";
    case DestinationMethod::crypto:
      return "crypto";
  }
  throw InternalError("unknown destination method");
}

}  // namespace

Destination read_destination(const http::JsonValue& body, const BeneficiaryRules& rules,
                             const std::string& prefix, ValidationErrors& errors,
                             const Destination* present) {
  Fields fields(body, errors, prefix);
  if (body.object() == nullptr) return {};
  DestinationInput input;
  for (const char* name : {"method", "countryIsoCode2", "currencyIsoCode3", "label"}) {
    read_text(fields, name, input.own);
  }
  input.bank = read_inner_texts<BankDetails>(fields, "bank");
  input.mobile_money = read_inner_texts<MobileMoneyDetails>(fields, "mobileMoney");
  input.crypto = read_inner_texts<CryptoDetails>(fields, "crypto");
  if (input.crypto) {
    Fields crypto(*fields.find("crypto"), errors, prefix + "crypto.");
    reject_internal_ids(crypto);
  }
  read_texts<CryptoDetails>(fields, input.own);
  const auto method = find_member(input.own, "method");
  if (input.crypto || method == name(DestinationMethod::crypto)) reject_internal_ids(fields);
  if (present != nullptr) restore_masked(input, *present);
  return validate_destination(input, rules, prefix, errors);
}

flows::BeneficiaryChange read_beneficiary(const http::JsonValue& body,
                                          const BeneficiaryRules& rules, ValidationErrors& errors,
                                          const std::vector<store::DestinationRow>& present) {
  Fields fields(body, errors);
  if (body.object() == nullptr) return {};
  const BeneficiaryInput input = read_input(fields);
  flows::BeneficiaryChange out;
  out.detail = validate_beneficiary(input, rules, errors);
  out.destinations = read_destinations(fields, rules, present);
  return out;
}

Json writable_json(const Beneficiary& beneficiary) {
  Json out = Json::object();
  if (const auto* individual = std::get_if<Individual>(&beneficiary.party)) {
    out["individual"] = texts_json(*individual);
  } else {
    out["business"] = texts_json(std::get<Company>(beneficiary.party));
  }
  out["addresses"] = Json::array();
  for (const Address& address : beneficiary.addresses) {
    out["addresses"].push_back(texts_json(address));
  }
  out["tags"] = beneficiary.tags;
  put_text(out, "clientReference", beneficiary.client_reference);
  return out;
}

Json destination_json(const store::DestinationRow& row, Shown shown) {
  const Destination destination = shown == Shown::masked ? masked(row.detail) : row.detail;
  Json out{{"id", row.id.to_string()}, {"method", name(destination.method)}};
  if (!destination.country.empty()) out["countryIsoCode2"] = destination.country;
  if (!destination.currency.empty()) out["currencyIsoCode3"] = destination.currency;
  put_text(out, "label", destination.label);
  std::visit(
      [&](const auto& details) { out[details_member(destination.method)] = texts_json(details); },
      destination.details);
  out["createdAt"] = row.created_at.to_string();
  return out;
}

Json beneficiary_json(const store::BeneficiaryRow& beneficiary,
                      const std::vector<store::DestinationRow>& destinations, Shown shown) {
  const bool individual = beneficiary.type() == EntityType::person;
  Json out{{"id", beneficiary.id.to_string()}, {"type", individual ? "individual" : "business"}};
  out.update(writable_json(beneficiary.detail));
  out["paymentDestinations"] = Json::array();
  for (const store::DestinationRow& destination : destinations) {
    out["paymentDestinations"].push_back(destination_json(destination, shown));
  }
  out["createdAt"] = beneficiary.created_at.to_string();
  out["updatedAt"] = beneficiary.updated_at.to_string();
  return out;
}

}  // namespace coffer::api
