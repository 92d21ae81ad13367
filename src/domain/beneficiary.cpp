#include "domain/beneficiary.h"

#include <algorithm>
#include <array>

#include "domain/country.h"
#include "domain/money.h"
#include "domain/party/contact.h"
#include "domain/party/iban.h"
#include "domain/payment.h"

namespace coffer {
namespace {

using Need = ContactReader::Need;

constexpr std::array<std::string_view, 3> kMethods{"BANK", "MOBILE_MONEY", "CRYPTO"};

// In characters.
constexpr std::size_t kTagMax = 50;
constexpr std::size_t kShortMax = 50;          // postal codes, kinds of address, bank codes
constexpr std::size_t kAccountNumberMax = 34;  // ISO 20022 Max34Text
constexpr std::size_t kNetworkMax = 64;
constexpr std::size_t kSymbolMax = 32;
constexpr std::size_t kWalletAddressMax = 128;  // of networks that are not ours
constexpr std::size_t kMaskShown = 4;

/// A code that `parse` accepts; empty if it is missing or invalid.
std::string code(ContactReader& reader, std::string_view field,
                 const std::optional<std::string>& input, Need need,
                 Result<std::string> (*parse)(std::string_view)) {
  const std::string text = reader.text(field, input, need);
  if (text.empty()) return {};
  auto parsed = parse(text);
  if (parsed) return *std::move(parsed);
  reader.add(parsed.error().slug, field, parsed.error().detail);
  return {};
}

/// Both or neither is a fault of both fields, unless one of them had the wrong type.
template <class First, class Second>
void require_one_of(ContactReader& reader, const char* first_name, const First& first,
                    const char* second_name, const Second& second) {
  if (first.has_value() != second.has_value()) return;
  if (reader.named(first_name) || reader.named(second_name)) return;
  const std::string rule = first ? "must not be sent together with " : "is required without ";
  reader.invalid(first_name, rule + second_name);
  reader.invalid(second_name, rule + first_name);
}

// Beneficiary -------------------------------------------------------------------------------------

Individual read_individual(ContactReader reader, const IndividualInput& input) {
  Individual out;
  out.first_name = reader.text("firstName", input.first_name, Need::required);
  out.last_name = reader.text("lastName", input.last_name, Need::required);
  out.email = reader.email("email", input.email);
  out.phone = reader.phone("phone", input.phone);
  out.date_of_birth =
      present(reader.date_of_birth("dateOfBirth", input.date_of_birth, Need::optional));
  out.nationality = present(reader.country("nationality", input.nationality, Need::optional));
  return out;
}

Company read_company(ContactReader reader, const CompanyInput& input) {
  Company out;
  out.company_name = reader.text("companyName", input.company_name, Need::required);
  out.registration_number = reader.optional_text("registrationNumber", input.registration_number);
  out.email = reader.email("email", input.email);
  out.phone = reader.phone("phone", input.phone);
  out.registration_country =
      present(reader.country("registrationCountry", input.registration_country, Need::optional));
  return out;
}

Address read_address(ContactReader reader, const AddressInput& input) {
  Address out;
  out.type = reader.optional_text("type", input.type, kShortMax);
  out.line1 = reader.text("line1", input.line1, Need::required);
  out.line2 = reader.optional_text("line2", input.line2);
  out.city = reader.text("city", input.city, Need::required);
  out.state = reader.optional_text("state", input.state);
  out.postal_code = reader.optional_text("postalCode", input.postal_code, kShortMax);
  out.country =
      code(reader, "countryIsoCode2", input.country, Need::required, parse_country_alpha2);
  return out;
}

std::vector<std::string> read_tags(ContactReader& reader,
                                   const std::vector<std::optional<std::string>>& input) {
  std::vector<std::string> out;
  if (input.size() > kTagsMax) {
    reader.malformed("tags", "must have at most " + std::to_string(kTagsMax) + " tags");
    return out;
  }
  for (std::size_t i = 0; i < input.size(); ++i) {
    const std::string field = "tags[" + std::to_string(i) + "]";
    std::string tag = reader.text(field, input[i], Need::required, kTagMax);
    if (tag.empty()) continue;
    if (std::find(out.begin(), out.end(), tag) != out.end()) {
      reader.invalid(field, "repeats another tag");
    }
    out.push_back(std::move(tag));
  }
  return out;
}

// Destination -------------------------------------------------------------------------------------

BankDetails read_bank(ContactReader reader, const BankInput& input) {
  BankDetails out;
  out.account_name = reader.text("accountName", input.account_name, Need::required);
  out.account_number =
      reader.optional_text("accountNumber", input.account_number, kAccountNumberMax);
  out.iban = reader.optional_text("iban", input.iban);
  require_one_of(reader, "accountNumber", input.account_number, "iban", input.iban);
  if (out.iban) {
    out.iban = parse_iban(*out.iban);
    if (!out.iban)
      reader.invalid("iban", "must be an IBAN: its length or its check digits are wrong");
  }
  out.bank_name = reader.optional_text("bankName", input.bank_name);
  out.bank_code = reader.optional_text("bankCode", input.bank_code, kShortMax);
  out.branch_code = reader.optional_text("branchCode", input.branch_code, kShortMax);
  if (const auto bic = reader.optional_text("swiftBic", input.swift_bic)) {
    out.swift_bic = parse_bic(*bic);
    if (!out.swift_bic) {
      reader.invalid(
          "swiftBic",
          "must be a BIC: 8 or 11 letters and digits, with the code of an existing country");
    }
  }
  return out;
}

MobileMoneyDetails read_mobile_money(ContactReader reader, const MobileMoneyInput& input) {
  MobileMoneyDetails out;
  out.provider = reader.text("provider", input.provider, Need::required);
  if (!input.phone_number) reader.malformed("phoneNumber", "is required");
  out.phone_number = reader.phone("phoneNumber", input.phone_number).value_or("");
  out.account_name = reader.optional_text("accountName", input.account_name);
  return out;
}

/// A crypto input may stand in `crypto` or at the top level, and in both only with the same value
/// (docs/contract.md#destinations).
class CryptoReader {
 public:
  CryptoReader(ContactReader& reader, const DestinationInput& input)
      : reader_(reader), input_(input) {}

  std::string text(const char* field, std::optional<std::string> CryptoInput::*member, Need need,
                   std::size_t length_max = kTextMax) {
    const auto& top = input_.top_level.*member;
    const auto& inner = input_.crypto ? (*input_.crypto).*member : top;
    if (top && inner && *top != *inner) {
      reader_.invalid(field, "must equal crypto." + std::string(field) + " or be left out");
    }
    const bool nested = input_.crypto && !(top && !inner);
    return reader_.text(nested ? "crypto." + std::string(field) : field, nested ? inner : top, need,
                        length_max);
  }
  /// Where a client has to look for a member that is wrong.
  std::string path(const char* field, std::optional<std::string> CryptoInput::*member) const {
    const bool nested = input_.crypto && ((*input_.crypto).*member || !(input_.top_level.*member));
    return (nested ? "crypto." : "") + std::string(field);
  }

 private:
  ContactReader& reader_;
  const DestinationInput& input_;
};

CryptoDetails read_crypto(ContactReader& reader, const DestinationInput& input,
                          const BeneficiaryRules& rules) {
  CryptoDetails out;
  if (reader.named("crypto")) return out;
  CryptoReader crypto(reader, input);
  out.network_name =
      crypto.text("networkName", &CryptoInput::network_name, Need::required, kNetworkMax);
  out.asset_symbol =
      crypto.text("assetSymbol", &CryptoInput::asset_symbol, Need::required, kSymbolMax);
  out.wallet_address =
      crypto.text("walletAddress", &CryptoInput::wallet_address, Need::required, kWalletAddressMax);
  out.memo = present(crypto.text("memo", &CryptoInput::memo, Need::optional));
  if (out.memo && out.memo->size() > kMemoBytesMax) {
    reader.malformed(crypto.path("memo", &CryptoInput::memo),
                     "must have at most " + std::to_string(kMemoBytesMax) + " bytes");
  }
  if (!is_ledger_network(out.network_name, rules.ledger_network)) return out;
  if (!out.wallet_address.empty() && !rules.is_ledger_key(out.wallet_address)) {
    reader.invalid(
        crypto.path("walletAddress", &CryptoInput::wallet_address),
        "must be a public key of the ledger: G, 55 more characters and a correct checksum");
  }
  if (!out.asset_symbol.empty() && !AssetCode::parse(out.asset_symbol)) {
    reader.invalid(crypto.path("assetSymbol", &CryptoInput::asset_symbol),
                   "must be 1 to 12 letters or digits on this network");
  }
  return out;
}

/// What belongs to another method is a contradiction, not something to ignore.
void refuse_other_details(ContactReader& reader, const DestinationInput& input,
                          DestinationMethod method) {
  const std::string message = "is not allowed with the method " + std::string(name(method));
  if (method != DestinationMethod::bank && input.bank) reader.invalid("bank", message);
  if (method != DestinationMethod::mobile_money && input.mobile_money) {
    reader.invalid("mobileMoney", message);
  }
  if (method == DestinationMethod::crypto) return;
  if (input.crypto) reader.invalid("crypto", message);
  const CryptoInput& top = input.top_level;
  if (top.network_name) reader.invalid("networkName", message);
  if (top.asset_symbol) reader.invalid("assetSymbol", message);
  if (top.wallet_address) reader.invalid("walletAddress", message);
}

}  // namespace

std::string_view name(DestinationMethod method) {
  return kMethods.at(static_cast<std::size_t>(method));
}

std::optional<DestinationMethod> parse_destination_method(std::string_view text) {
  if (text == "MOMO") return DestinationMethod::mobile_money;
  const auto it = std::find(kMethods.begin(), kMethods.end(), text);
  if (it == kMethods.end()) return std::nullopt;
  return static_cast<DestinationMethod>(it - kMethods.begin());
}

bool is_ledger_network(std::string_view network, std::string_view ledger_network) {
  const std::string folded = fold_case(network);
  return folded == fold_case(ledger_network) || folded == "stellar";
}

std::string_view outcome_digits(const Destination& destination) {
  if (const auto* bank = std::get_if<BankDetails>(&destination.details)) {
    return bank->account_number ? *bank->account_number : *bank->iban;
  }
  if (const auto* mobile = std::get_if<MobileMoneyDetails>(&destination.details)) {
    return mobile->phone_number;
  }
  return std::get<CryptoDetails>(destination.details).wallet_address;
}

std::string masked(std::string_view number) {
  if (number.size() <= kMaskShown) return std::string(number.size(), '*');
  // Never cuts a character of several bytes in two.
  std::size_t from = number.size() - kMaskShown;
  while (from < number.size() && (static_cast<unsigned char>(number[from]) & 0xc0U) == 0x80U)
    ++from;
  return std::string(from, '*') + std::string(number.substr(from));
}

Destination masked(Destination destination) {
  if (auto* bank = std::get_if<BankDetails>(&destination.details)) {
    if (bank->account_number) bank->account_number = masked(*bank->account_number);
    if (bank->iban) bank->iban = masked(*bank->iban);
  } else if (auto* mobile = std::get_if<MobileMoneyDetails>(&destination.details)) {
    mobile->phone_number = masked(mobile->phone_number);
  } else {
    auto& crypto = std::get<CryptoDetails>(destination.details);
    crypto.wallet_address = masked(crypto.wallet_address);
  }
  return destination;
}

EntityType entity_type(const Beneficiary& beneficiary) {
  return std::holds_alternative<Individual>(beneficiary.party) ? EntityType::person
                                                               : EntityType::business;
}

std::string display_name(const Beneficiary& beneficiary) {
  if (const auto* person = std::get_if<Individual>(&beneficiary.party)) {
    return person->first_name + " " + person->last_name;
  }
  return std::get<Company>(beneficiary.party).company_name;
}

const std::optional<std::string>& email(const Beneficiary& beneficiary) {
  return std::visit(
      [](const auto& party) -> const auto& { return party.email; }, beneficiary.party);
}

const std::optional<std::string>& phone(const Beneficiary& beneficiary) {
  return std::visit(
      [](const auto& party) -> const auto& { return party.phone; }, beneficiary.party);
}

std::string search_text(const Beneficiary& beneficiary) {
  // Line feeds, which no field holds, keep one field from running into the next.
  return fold_case(display_name(beneficiary) + "\n" + email(beneficiary).value_or("") + "\n" +
                   beneficiary.client_reference.value_or(""));
}

Beneficiary validate_beneficiary(const BeneficiaryInput& input, const BeneficiaryRules& rules,
                                 Faults& faults) {
  ContactReader reader(faults, "", rules.today);
  Beneficiary out;
  require_one_of(reader, "individual", input.individual, "business", input.business);
  if (input.individual)
    out.party = read_individual(reader.within("individual."), *input.individual);
  if (input.business) out.party = read_company(reader.within("business."), *input.business);
  if (input.addresses.size() > kAddressesMax) {
    reader.malformed("addresses",
                     "must have at most " + std::to_string(kAddressesMax) + " addresses");
  } else {
    for (std::size_t i = 0; i < input.addresses.size(); ++i) {
      const std::string place = "addresses[" + std::to_string(i) + "]";
      if (reader.named(place)) continue;
      out.addresses.push_back(read_address(reader.within(place + "."), input.addresses[i]));
    }
  }
  out.tags = read_tags(reader, input.tags);
  out.client_reference = reader.optional_text("clientReference", input.client_reference);
  return out;
}

Destination validate_destination(const DestinationInput& input, const BeneficiaryRules& rules,
                                 const std::string& prefix, Faults& faults) {
  ContactReader reader(faults, prefix, rules.today);
  Destination out;
  out.label = reader.optional_text("label", input.label);
  const std::string method = reader.text("method", input.method, Need::required);
  const auto parsed = parse_destination_method(method);
  if (!method.empty() && !parsed) {
    reader.malformed("method", "must be `BANK`, `MOBILE_MONEY` or `CRYPTO`");
  }
  // A wallet address lies in no country and takes no currency of ISO 4217.
  const Need place = parsed == DestinationMethod::crypto ? Need::optional : Need::required;
  out.country = code(reader, "countryIsoCode2", input.country, place, parse_country_alpha2);
  out.currency = code(reader, "currencyIsoCode3", input.currency, place, parse_currency_alpha3);
  if (!parsed) return out;
  out.method = *parsed;
  refuse_other_details(reader, input, *parsed);
  switch (*parsed) {
    case DestinationMethod::bank:
      if (!input.bank) reader.malformed("bank", "is required");
      if (input.bank) out.details = read_bank(reader.within("bank."), *input.bank);
      break;
    case DestinationMethod::mobile_money:
      if (!input.mobile_money) reader.malformed("mobileMoney", "is required");
      if (input.mobile_money) {
        out.details = read_mobile_money(reader.within("mobileMoney."), *input.mobile_money);
      }
      break;
    case DestinationMethod::crypto:
      out.details = read_crypto(reader, input, rules);
      break;
  }
  return out;
}

}  // namespace coffer
