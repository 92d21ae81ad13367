#include "api/beneficiaries/bodies.h"

namespace coffer::api {
namespace {

// As long as any text may be: how long each field is, is domain's to say.
constexpr std::size_t kAnyText = 4096;

template <class Input>
struct Member {
  const char* name;
  std::optional<std::string> Input::*target;
};

constexpr Member<IndividualInput> kIndividual[] = {
    {"firstName", &IndividualInput::first_name},
    {"lastName", &IndividualInput::last_name},
    {"email", &IndividualInput::email},
    {"phone", &IndividualInput::phone},
    {"dateOfBirth", &IndividualInput::date_of_birth},
    {"nationality", &IndividualInput::nationality},
};
constexpr Member<CompanyInput> kCompany[] = {
    {"companyName", &CompanyInput::company_name},
    {"registrationNumber", &CompanyInput::registration_number},
    {"email", &CompanyInput::email},
    {"phone", &CompanyInput::phone},
    {"registrationCountry", &CompanyInput::registration_country},
};
constexpr Member<AddressInput> kAddress[] = {
    {"type", &AddressInput::type},
    {"line1", &AddressInput::line1},
    {"line2", &AddressInput::line2},
    {"city", &AddressInput::city},
    {"state", &AddressInput::state},
    {"postalCode", &AddressInput::postal_code},
    {"countryIsoCode2", &AddressInput::country},
};
constexpr Member<DestinationInput> kDestination[] = {
    {"method", &DestinationInput::method},
    {"countryIsoCode2", &DestinationInput::country},
    {"currencyIsoCode3", &DestinationInput::currency},
    {"label", &DestinationInput::label},
};
constexpr Member<BankInput> kBank[] = {
    {"accountName", &BankInput::account_name},
    {"accountNumber", &BankInput::account_number},
    {"iban", &BankInput::iban},
    {"bankName", &BankInput::bank_name},
    {"bankCode", &BankInput::bank_code},
    {"branchCode", &BankInput::branch_code},
    {"swiftBic", &BankInput::swift_bic},
};
constexpr Member<MobileMoneyInput> kMobileMoney[] = {
    {"provider", &MobileMoneyInput::provider},
    {"phoneNumber", &MobileMoneyInput::phone_number},
    {"accountName", &MobileMoneyInput::account_name},
};
constexpr Member<CryptoInput> kCrypto[] = {
    {"networkName", &CryptoInput::network_name},
    {"assetSymbol", &CryptoInput::asset_symbol},
    {"walletAddress", &CryptoInput::wallet_address},
    {"memo", &CryptoInput::memo},
};

// Only the JSON types here: which members are needed and what they must look like is domain's.

template <class Input, std::size_t N>
Input read_members(Fields& fields, const Member<Input> (&members)[N]) {
  Input input;
  for (const Member<Input>& member : members) {
    input.*member.target = fields.text(member.name, optional, kAnyText);
  }
  return input;
}

/// The members of an object inside the object; empty when it is not there.
template <class Input, std::size_t N>
std::optional<Input> read_inner(Fields& fields, const char* name,
                                const Member<Input> (&members)[N]) {
  if (fields.object(name, optional) == nullptr) return std::nullopt;
  Fields inner(*fields.find(name), fields.faults(), fields.path(name) + ".");
  return read_members(inner, members);
}

std::string place(const char* name, std::size_t index) {
  return std::string(name) + "[" + std::to_string(index) + "]";
}

BeneficiaryInput read_input(Fields& fields) {
  BeneficiaryInput input;
  input.individual = read_inner(fields, "individual", kIndividual);
  input.business = read_inner(fields, "business", kCompany);
  input.client_reference = fields.text("clientReference", optional, kAnyText);
  if (const auto* addresses = fields.array("addresses", optional)) {
    for (std::size_t i = 0; i < addresses->size(); ++i) {
      Fields address((*addresses)[i], fields.faults(), place("addresses", i) + ".");
      input.addresses.push_back(read_members(address, kAddress));
    }
  }
  if (const auto* tags = fields.array("tags", optional)) {
    for (std::size_t i = 0; i < tags->size(); ++i) {
      const http::JsonValue& tag = (*tags)[i];
      input.tags.push_back(tag.string() != nullptr ? std::optional(*tag.string()) : std::nullopt);
      if (tag.string() != nullptr) continue;
      fields.faults().add(Slug::malformed_request, place("tags", i),
                          "must be a string, not " + std::string(tag.type_name()));
    }
  }
  return input;
}

/// A destination never names ids of the platform's own tables (docs/contract.md#destinations).
void refuse_internal_ids(Fields& fields) {
  for (const char* id : {"networkId", "assetId", "connectorId"}) {
    if (fields.find(id) == nullptr) continue;
    fields.faults().add(Slug::malformed_request, fields.path(id),
                        "is not accepted; send networkName, assetSymbol and walletAddress");
  }
}

std::optional<std::vector<Destination>> read_destinations(Fields& fields,
                                                          const BeneficiaryRules& rules) {
  const auto* list = fields.array("paymentDestinations", optional);
  if (list == nullptr) return std::nullopt;
  std::vector<Destination> out;
  if (list->size() > kDestinationsMax) {
    fields.faults().add(Slug::malformed_request, "paymentDestinations",
                        "must have at most " + std::to_string(kDestinationsMax) + " destinations");
    return out;
  }
  for (std::size_t i = 0; i < list->size(); ++i) {
    out.push_back(read_destination((*list)[i], rules, place("paymentDestinations", i) + ".",
                                   fields.faults()));
  }
  return out;
}

/// Adds a member only where there is a value.
void put(Json& object, const char* name, const std::optional<std::string>& value) {
  if (value) object[name] = *value;
}

Json individual_json(const Individual& individual) {
  Json out{{"firstName", individual.first_name}, {"lastName", individual.last_name}};
  put(out, "email", individual.email);
  put(out, "phone", individual.phone);
  put(out, "dateOfBirth", individual.date_of_birth);
  put(out, "nationality", individual.nationality);
  return out;
}

Json company_json(const Company& company) {
  Json out{{"companyName", company.company_name}};
  put(out, "registrationNumber", company.registration_number);
  put(out, "email", company.email);
  put(out, "phone", company.phone);
  put(out, "registrationCountry", company.registration_country);
  return out;
}

Json address_json(const Address& address) {
  Json out = Json::object();
  put(out, "type", address.type);
  out["line1"] = address.line1;
  put(out, "line2", address.line2);
  out["city"] = address.city;
  put(out, "state", address.state);
  put(out, "postalCode", address.postal_code);
  out["countryIsoCode2"] = address.country;
  return out;
}

Json bank_json(const BankDetails& bank) {
  Json out{{"accountName", bank.account_name}};
  put(out, "accountNumber", bank.account_number);
  put(out, "iban", bank.iban);
  put(out, "bankName", bank.bank_name);
  put(out, "bankCode", bank.bank_code);
  put(out, "branchCode", bank.branch_code);
  put(out, "swiftBic", bank.swift_bic);
  return out;
}

Json mobile_money_json(const MobileMoneyDetails& mobile) {
  Json out{{"provider", mobile.provider}, {"phoneNumber", mobile.phone_number}};
  put(out, "accountName", mobile.account_name);
  return out;
}

Json crypto_json(const CryptoDetails& crypto) {
  Json out{{"networkName", crypto.network_name},
           {"assetSymbol", crypto.asset_symbol},
           {"walletAddress", crypto.wallet_address}};
  put(out, "memo", crypto.memo);
  return out;
}

}  // namespace

Destination read_destination(const http::JsonValue& body, const BeneficiaryRules& rules,
                             const std::string& prefix, Faults& faults) {
  Fields fields(body, faults, prefix);
  if (body.object() == nullptr) return {};
  DestinationInput input = read_members(fields, kDestination);
  input.bank = read_inner(fields, "bank", kBank);
  input.mobile_money = read_inner(fields, "mobileMoney", kMobileMoney);
  input.crypto = read_inner(fields, "crypto", kCrypto);
  if (input.crypto) {
    Fields crypto(*fields.find("crypto"), faults, prefix + "crypto.");
    refuse_internal_ids(crypto);
  }
  input.top_level = read_members(fields, kCrypto);
  if (input.crypto || input.method == name(DestinationMethod::crypto)) refuse_internal_ids(fields);
  return validate_destination(input, rules, prefix, faults);
}

flows::BeneficiaryChange read_beneficiary(const http::JsonValue& body,
                                          const BeneficiaryRules& rules, Faults& faults) {
  Fields fields(body, faults);
  if (body.object() == nullptr) return {};
  const BeneficiaryInput input = read_input(fields);
  flows::BeneficiaryChange out;
  out.detail = validate_beneficiary(input, rules, faults);
  out.destinations = read_destinations(fields, rules);
  return out;
}

Json writable_json(const Beneficiary& beneficiary) {
  Json out = Json::object();
  if (const auto* individual = std::get_if<Individual>(&beneficiary.party)) {
    out["individual"] = individual_json(*individual);
  } else {
    out["business"] = company_json(std::get<Company>(beneficiary.party));
  }
  out["addresses"] = Json::array();
  for (const Address& address : beneficiary.addresses) {
    out["addresses"].push_back(address_json(address));
  }
  out["tags"] = beneficiary.tags;
  put(out, "clientReference", beneficiary.client_reference);
  return out;
}

Json destination_json(const store::DestinationRow& row, Shown shown) {
  const Destination destination = shown == Shown::masked ? masked(row.detail) : row.detail;
  Json out{{"id", row.id.to_string()}, {"method", name(destination.method)}};
  if (!destination.country.empty()) out["countryIsoCode2"] = destination.country;
  if (!destination.currency.empty()) out["currencyIsoCode3"] = destination.currency;
  put(out, "label", destination.label);
  switch (destination.method) {
    case DestinationMethod::bank:
      out["bank"] = bank_json(std::get<BankDetails>(destination.details));
      break;
    case DestinationMethod::mobile_money:
      out["mobileMoney"] = mobile_money_json(std::get<MobileMoneyDetails>(destination.details));
      break;
    case DestinationMethod::crypto:
      out["crypto"] = crypto_json(std::get<CryptoDetails>(destination.details));
      break;
  }
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
