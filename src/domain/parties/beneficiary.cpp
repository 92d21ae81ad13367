#include "domain/parties/beneficiary.h"

#include <algorithm>

#include "base/text/ascii.h"
#include "domain/contact.h"
#include "domain/country.h"
#include "domain/iban.h"
#include "domain/ledger/money.h"
#include "domain/payments/payment.h"

namespace coffer {
namespace {

using Need = ContactReader::Need;

constexpr std::size_t kTagMax = 50;  // characters
constexpr std::size_t kMaskShown = 4;

/// A code that `parse` accepts; empty if it is missing or invalid.
std::string code(ContactReader& reader, std::string_view field, const TextMembers& input, Need need,
                 Result<std::string> (*parse)(std::string_view)) {
  const std::string text = reader.text(field, find_member(input, field), need);
  if (text.empty()) return {};
  auto parsed = parse(text);
  if (parsed) return *std::move(parsed);
  reader.add(parsed.error().slug, field, parsed.error().detail);
  return {};
}

/// If both or neither are present, adds an error to both fields, unless one had the wrong type.
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
    if (std::ranges::find(out, tag) != out.end()) {
      reader.invalid(field, "repeats another tag");
    }
    out.push_back(std::move(tag));
  }
  return out;
}

// Destination -------------------------------------------------------------------------------------

/// Whether the account can be in the destination's country, which is empty if it has an error.
void check_iban_country(ContactReader& reader, std::string_view iban, const std::string& country) {
  const std::string_view wanted = iban_country(country);
  const std::string_view actual = iban.substr(0, 2);
  if (country.empty() || actual == wanted) return;
  if (wanted.empty()) {
    reader.invalid("iban", "cannot be in " + country +
                               ", the country of the destination, which has no IBANs; send the "
                               "account number as accountNumber");
  } else {
    reader.invalid("iban", "must begin with " + std::string(wanted) +
                               ", because countryIsoCode2 is " + country + "; it begins with " +
                               std::string(actual));
  }
}

BankDetails read_bank(ContactReader reader, const TextMembers& input, const std::string& country) {
  auto out = reader.read<BankDetails>(input);
  require_one_of(reader, "accountNumber", find_member(input, "accountNumber"), "iban",
                 find_member(input, "iban"));
  if (out.iban && !reader.named("iban")) check_iban_country(reader, *out.iban, country);
  return out;
}

/// A crypto member may be in `crypto` or at the top level, and in both only with the same value
/// (docs/contract.md#destinations).
class CryptoInput {
 public:
  CryptoInput(const ContactReader& reader, const DestinationInput& input)
      : reader_(reader), input_(input) {}

  std::optional<std::string> value(const TextFact& fact, Need need) const {
    const auto top = find_member(input_.own, fact.name);
    const auto inner = nested(fact.name);
    if (top && inner && *top != *inner) {
      reader_.invalid(fact.name, "must equal crypto." + std::string(fact.name) + " or be omitted");
    }
    return at(fact.name).value(fact, inner ? inner : top, need);
  }
  /// A reader with the path under which the client sent the member.
  ContactReader at(std::string_view name) const {
    const bool top_only = input_.own.contains(name) && !nested(name);
    return input_.crypto && !top_only ? reader_.within("crypto.") : reader_;
  }

 private:
  std::optional<std::string> nested(std::string_view name) const {
    return input_.crypto ? find_member(*input_.crypto, name) : std::nullopt;
  }

  mutable ContactReader reader_;
  const DestinationInput& input_;
};

CryptoDetails read_crypto(ContactReader& reader, const DestinationInput& input,
                          const BeneficiaryRules& rules) {
  CryptoDetails out;
  if (reader.named("crypto")) return out;
  const CryptoInput crypto(reader, input);
  for (const auto& field : TextFields<CryptoDetails>::rows) {
    auto text = crypto.value(field, field.required ? Need::required : Need::optional);
    if (text) field.set(out, *std::move(text));
  }
  if (out.memo && out.memo->size() > kMemoBytesMax) {
    crypto.at("memo").malformed("memo",
                                "must have at most " + std::to_string(kMemoBytesMax) + " bytes");
  }
  if (!is_ledger_network(out.network_name, rules.ledger_network)) return out;
  if (!out.wallet_address.empty() && !rules.is_ledger_key(out.wallet_address)) {
    crypto.at("walletAddress")
        .invalid(
            "walletAddress",
            "must be a public key of the ledger: G, 55 more characters and a correct checksum");
  }
  if (!out.asset_symbol.empty() && !AssetCode::parse(out.asset_symbol)) {
    crypto.at("assetSymbol")
        .invalid("assetSymbol", "must be 1 to 12 letters or digits on this network");
  }
  return out;
}

/// Members of another method are contradictory, so they are errors.
void reject_other_details(ContactReader& reader, const DestinationInput& input,
                          DestinationMethod method) {
  const std::string message = "is not allowed with the method " + std::string(name(method));
  if (method != DestinationMethod::bank && input.bank) reader.invalid("bank", message);
  if (method != DestinationMethod::mobile_money && input.mobile_money) {
    reader.invalid("mobileMoney", message);
  }
  if (method == DestinationMethod::crypto) return;
  if (input.crypto) reader.invalid("crypto", message);
  for (const char* top : {"networkName", "assetSymbol", "walletAddress"}) {
    if (input.own.contains(top)) reader.invalid(top, message);
  }
}

}  // namespace

std::optional<DestinationMethod> parse_destination_method(std::string_view text) {
  if (text == "MOMO") return DestinationMethod::mobile_money;
  return parse_term<DestinationMethod>(text);
}

bool is_ledger_network(std::string_view network, std::string_view ledger_network) {
  return ascii::same_word(network, ledger_network) || ascii::same_word(network, "stellar");
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
  // Never splits a multi-byte character.
  std::size_t from = number.size() - kMaskShown;
  while (from < number.size() && (static_cast<unsigned char>(number[from]) & 0xc0U) == 0x80U)
    ++from;
  return std::string(from, '*') + std::string(number.substr(from));
}

Destination masked(Destination destination) {
  std::visit(
      []<class Noun>(Noun& noun) {
        for (const auto& field : TextFields<Noun>::rows) {
          const std::string* value = field.rule.masked ? field.get(noun) : nullptr;
          if (value != nullptr) field.set(noun, masked(*value));
        }
      },
      destination.details);
  return destination;
}

void restore_masked(DestinationInput& input, const Destination& present) {
  const auto restore = [](TextMembers& members, const TextFact& fact, const std::string& value) {
    const auto sent = members.find(fact.name);
    if (sent != members.end() && sent->second == masked(value)) sent->second = value;
  };
  const auto visit = [&](const TextFact& fact, const std::string& value) {
    if (!fact.rule.masked) return;
    restore(input.own, fact, value);
    for (auto* inner : {&input.bank, &input.mobile_money, &input.crypto}) {
      if (*inner) restore(**inner, fact, value);
    }
  };
  std::visit([&](const auto& details) { each_text(details, visit); }, present.details);
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
  // Line feeds, which no field contains, separate the fields.
  return display_name(beneficiary) + "\n" + email(beneficiary).value_or("") + "\n" +
         beneficiary.client_reference.value_or("");
}

Beneficiary validate_beneficiary(const BeneficiaryInput& input, const BeneficiaryRules& rules,
                                 ValidationErrors& errors) {
  ContactReader reader(errors, "", rules.today);
  Beneficiary out;
  require_one_of(reader, "individual", input.individual, "business", input.business);
  if (input.individual)
    out.party = reader.within("individual.").read<Individual>(*input.individual);
  if (input.business) out.party = reader.within("business.").read<Company>(*input.business);
  if (input.addresses.size() > kAddressesMax) {
    reader.malformed("addresses",
                     "must have at most " + std::to_string(kAddressesMax) + " addresses");
  } else {
    for (std::size_t i = 0; i < input.addresses.size(); ++i) {
      const std::string place = "addresses[" + std::to_string(i) + "]";
      if (reader.named(place)) continue;
      out.addresses.push_back(reader.within(place + ".").read<Address>(input.addresses[i]));
    }
  }
  out.tags = read_tags(reader, input.tags);
  out.client_reference = reader.optional_text("clientReference", input.client_reference);
  return out;
}

Destination validate_destination(const DestinationInput& input, const BeneficiaryRules& rules,
                                 const std::string& prefix, ValidationErrors& errors) {
  ContactReader reader(errors, prefix, rules.today);
  Destination out;
  out.label = reader.optional_text("label", find_member(input.own, "label"));
  const std::string method =
      reader.text("method", find_member(input.own, "method"), Need::required);
  const auto parsed = parse_destination_method(method);
  if (!method.empty() && !parsed) {
    reader.malformed("method", "must be `BANK`, `MOBILE_MONEY` or `CRYPTO`");
  }
  // A wallet address has no country and no ISO 4217 currency.
  const Need place = parsed == DestinationMethod::crypto ? Need::optional : Need::required;
  out.country = code(reader, "countryIsoCode2", input.own, place, parse_country_alpha2);
  out.currency = code(reader, "currencyIsoCode3", input.own, place, parse_currency_alpha3);
  if (!parsed) return out;
  out.method = *parsed;
  reject_other_details(reader, input, *parsed);
  switch (*parsed) {
    case DestinationMethod::bank:
      if (!input.bank) reader.malformed("bank", "is required");
      if (input.bank) out.details = read_bank(reader.within("bank."), *input.bank, out.country);
      break;
    case DestinationMethod::mobile_money:
      if (!input.mobile_money) reader.malformed("mobileMoney", "is required");
      if (input.mobile_money) {
        out.details = reader.within("mobileMoney.").read<MobileMoneyDetails>(*input.mobile_money);
      }
      break;
    case DestinationMethod::crypto:
      out.details = read_crypto(reader, input, rules);
      break;
  }
  return out;
}

}  // namespace coffer
