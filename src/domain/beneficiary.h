// Beneficiaries and payment destinations: their rules (docs/contract.md#beneficiaries,
// docs/contract.md#destinations). The store keeps DestinationMethod as integers: append, never
// reorder.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/clock.h"
#include "base/faults.h"
#include "domain/wallet.h"

namespace coffer {

// Destinations ------------------------------------------------------------------------------------

enum class DestinationMethod { bank, mobile_money, crypto };

/// `BANK`, `MOBILE_MONEY`, `CRYPTO`.
std::string_view name(DestinationMethod method);
/// Accepts `MOMO` as `MOBILE_MONEY`; otherwise exact.
std::optional<DestinationMethod> parse_destination_method(std::string_view text);

struct BankDetails {
  std::string account_name;
  std::optional<std::string> account_number;  // exactly one of number and IBAN
  std::optional<std::string> iban;            // electronic form
  std::optional<std::string> bank_name;
  std::optional<std::string> bank_code;
  std::optional<std::string> branch_code;
  std::optional<std::string> swift_bic;  // upper case
  bool operator==(const BankDetails&) const = default;
};

struct MobileMoneyDetails {
  std::string provider;
  std::string phone_number;  // E.164
  std::optional<std::string> account_name;
  bool operator==(const MobileMoneyDetails&) const = default;
};

struct CryptoDetails {
  std::string network_name;
  std::string asset_symbol;
  std::string wallet_address;  // a canonical G key on the embedded ledger
  std::optional<std::string> memo;
  bool operator==(const CryptoDetails&) const = default;
};

/// The embedded ledger answers to its own name and to that of the family its addresses are of, in
/// any case.
bool is_ledger_network(std::string_view network, std::string_view ledger_network);

struct Destination {
  DestinationMethod method = DestinationMethod::bank;
  std::string country;   // ISO 3166-1 alpha-2, upper case; empty only for crypto
  std::string currency;  // ISO 4217, upper case; empty only for crypto
  std::optional<std::string> label;
  std::variant<BankDetails, MobileMoneyDetails, CryptoDetails> details;  // follows `method`
  bool operator==(const Destination&) const = default;
};

/// Account number or IBAN, phone number, or wallet address: whose last four digits decide the
/// outcome in the sandbox (docs/contract.md#sandbox). Lives as long as `destination`.
std::string_view outcome_digits(const Destination& destination);
/// All but the last four characters as `*`; a text of up to four characters wholly.
std::string masked(std::string_view number);
/// With the account number, IBAN, phone number or wallet address masked, as lists show it.
Destination masked(Destination destination);

/// A destination as received: a JSON null is the same as an absent member.
struct BankInput {
  std::optional<std::string> account_name, account_number, iban, bank_name, bank_code, branch_code,
      swift_bic;
};
struct MobileMoneyInput {
  std::optional<std::string> provider, phone_number, account_name;
};
struct CryptoInput {
  std::optional<std::string> network_name, asset_symbol, wallet_address, memo;
};
struct DestinationInput {
  std::optional<std::string> method, country, currency, label;
  std::optional<BankInput> bank;
  std::optional<MobileMoneyInput> mobile_money;
  std::optional<CryptoInput> crypto;
  CryptoInput top_level;  // the crypto inputs, where the contract lists them
};

// Beneficiaries -----------------------------------------------------------------------------------

struct Individual {
  std::string first_name;
  std::string last_name;
  std::optional<std::string> email;
  std::optional<std::string> phone;          // E.164
  std::optional<std::string> date_of_birth;  // YYYY-MM-DD
  std::optional<std::string> nationality;    // ISO 3166-1 alpha-3
  bool operator==(const Individual&) const = default;
};

struct Company {
  std::string company_name;
  std::optional<std::string> registration_number;
  std::optional<std::string> email;
  std::optional<std::string> phone;                 // E.164
  std::optional<std::string> registration_country;  // ISO 3166-1 alpha-3
  bool operator==(const Company&) const = default;
};

struct Address {
  std::optional<std::string> type;
  std::string line1;
  std::optional<std::string> line2;
  std::string city;
  std::optional<std::string> state;
  std::optional<std::string> postal_code;
  std::string country;  // ISO 3166-1 alpha-2, upper case
  bool operator==(const Address&) const = default;
};

struct Beneficiary {
  std::variant<Individual, Company> party;
  std::vector<Address> addresses;
  std::vector<std::string> tags;
  std::optional<std::string> client_reference;
  bool operator==(const Beneficiary&) const = default;
};

/// person: `individual` in the contract's words.
EntityType entity_type(const Beneficiary& beneficiary);
/// `First Last`, or the company's name.
std::string display_name(const Beneficiary& beneficiary);
const std::optional<std::string>& email(const Beneficiary& beneficiary);
const std::optional<std::string>& phone(const Beneficiary& beneficiary);
/// Name, e-mail and client reference with folded case: what the list's `q` looks into.
std::string search_text(const Beneficiary& beneficiary);

struct IndividualInput {
  std::optional<std::string> first_name, last_name, email, phone, date_of_birth, nationality;
};
struct CompanyInput {
  std::optional<std::string> company_name, registration_number, email, phone, registration_country;
};
struct AddressInput {
  std::optional<std::string> type, line1, line2, city, state, postal_code, country;
};
struct BeneficiaryInput {
  std::optional<IndividualInput> individual;
  std::optional<CompanyInput> business;
  std::vector<AddressInput> addresses;
  std::vector<std::optional<std::string>> tags;
  std::optional<std::string> client_reference;
};

// Validation --------------------------------------------------------------------------------------

inline constexpr std::size_t kDestinationsMax = 20;  // live ones of a beneficiary
inline constexpr std::size_t kAddressesMax = 10;
inline constexpr std::size_t kTagsMax = 20;

/// What validation needs to know of the world. flows/beneficiary_changes.h makes one.
struct BeneficiaryRules {
  Timestamp today;                  // bounds dates of birth
  std::string_view ledger_network;  // the embedded ledger's name, also called `stellar`
  bool (*is_ledger_key)(std::string_view text);  // a canonical StrKey G key
};

/// Trims and normalises. Everything that is wrong joins `faults` under its JSON path (`prefix`
/// first): wrong shapes as `malformed-request`, wrong values as `validation-failed`. Fields that
/// `faults` names already are not named again. Meaningless unless `faults` is empty afterwards.
Beneficiary validate_beneficiary(const BeneficiaryInput& input, const BeneficiaryRules& rules,
                                 Faults& faults);
Destination validate_destination(const DestinationInput& input, const BeneficiaryRules& rules,
                                 const std::string& prefix, Faults& faults);

}  // namespace coffer
