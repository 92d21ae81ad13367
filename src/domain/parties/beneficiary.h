// Rules of beneficiaries and payment destinations (docs/contract.md#beneficiaries,
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
#include "base/validation_errors.h"
#include "domain/ledger/wallet.h"

namespace coffer {

// Destinations ------------------------------------------------------------------------------------

enum class DestinationMethod { bank, mobile_money, crypto };

template <>
struct Terms<DestinationMethod> {
  static constexpr auto rows = std::to_array<Term>({{"BANK", "Bank account"},
                                                    {"MOBILE_MONEY", "Mobile money"},
                                                    {"CRYPTO", "Address on a ledger"}});
};
/// Accepts `MOMO` as `MOBILE_MONEY`; otherwise exact.
std::optional<DestinationMethod> parse_destination_method(std::string_view text);

struct BankDetails {
  std::string account_name;
  std::optional<std::string> account_number;  // exactly one of number and IBAN
  std::optional<std::string> iban;
  std::optional<std::string> bank_name;
  std::optional<std::string> bank_code;
  std::optional<std::string> branch_code;
  std::optional<std::string> swift_bic;
  bool operator==(const BankDetails&) const = default;
};

template <>
struct TextFields<BankDetails> {
  using Bank = BankDetails;
  static constexpr std::size_t kAccountNumberMax = 34;  // ISO 20022 Max34Text
  static constexpr TextField<Bank> rows[] = {
      {"accountName", "account_name", &Bank::account_name, rule::text, "Name of the account holder",
       "Amina Otieno"},
      {"accountNumber", "account_number", &Bank::account_number,
       rule::masked(rule::text_up_to(kAccountNumberMax)),
       "Account number; mutually exclusive with `iban`"},
      {"iban", "iban", &Bank::iban, rule::masked(rule::iban),
       "IBAN; mutually exclusive with `accountNumber`"},
      {"bankName", "bank_name", &Bank::bank_name, rule::text, "Name of the bank"},
      {"bankCode", "bank_code", &Bank::bank_code, rule::text_up_to(50),
       "National code of the bank"},
      {"branchCode", "branch_code", &Bank::branch_code, rule::text_up_to(50),
       "National code of the branch"},
      {"swiftBic", "swift_bic", &Bank::swift_bic, rule::bic, "BIC (ISO 9362)"},
  };
};

struct MobileMoneyDetails {
  std::string provider;
  std::string phone_number;
  std::optional<std::string> account_name;
  bool operator==(const MobileMoneyDetails&) const = default;
};

template <>
struct TextFields<MobileMoneyDetails> {
  using Mobile = MobileMoneyDetails;
  static constexpr TextField<Mobile> rows[] = {
      {"provider", "provider", &Mobile::provider, rule::text, "Provider", "M-Pesa"},
      {"phoneNumber", "phone_number", &Mobile::phone_number, rule::masked(rule::phone),
       "Phone number in E.164 format", "+254712345678"},
      {"accountName", "account_name", &Mobile::account_name, rule::text,
       "Name of the account holder", "Amina Otieno"},
  };
};

struct CryptoDetails {
  std::string network_name;
  std::string asset_symbol;
  std::string wallet_address;  // a canonical G key on the embedded ledger
  std::optional<std::string> memo;
  bool operator==(const CryptoDetails&) const = default;
};

template <>
struct TextFields<CryptoDetails> {
  using Crypto = CryptoDetails;
  // Of networks other than the embedded ledger.
  static constexpr std::size_t kWalletAddressMax = 128;
  static constexpr TextField<Crypto> rows[] = {
      {"networkName", "network_name", &Crypto::network_name, rule::text_up_to(64),
       "Network of the address", "Stellar"},
      {"assetSymbol", "asset_symbol", &Crypto::asset_symbol, rule::text_up_to(32),
       "Symbol of the asset on that network", "USDC"},
      {"walletAddress", "wallet_address", &Crypto::wallet_address,
       rule::masked(rule::text_up_to(kWalletAddressMax)), "Address on that network",
       "GDRXE2BQUC3AZNPVFSCEZ76NJ3WWL25FYFK6RGZGIEKWE4SOOHSUJUJ6"},
      {"memo", "memo", &Crypto::memo, rule::text, "Memo on the ledger"},
  };
};

/// Whether the name is that of the embedded ledger or of the network family of its addresses, in
/// any case.
bool is_ledger_network(std::string_view network, std::string_view ledger_network);

struct Destination {
  DestinationMethod method = DestinationMethod::bank;
  std::string country;   // ISO 3166-1 alpha-2, upper case; empty only for crypto
  std::string currency;  // ISO 4217, upper case; empty only for crypto
  std::optional<std::string> label;
  // The alternative corresponds to `method`.
  std::variant<BankDetails, MobileMoneyDetails, CryptoDetails> details;
  bool operator==(const Destination&) const = default;
};

/// The account number or IBAN, phone number, or wallet address. Its last four digits select the
/// outcome in the sandbox (docs/contract.md#sandbox). Valid as long as `destination`.
std::string_view outcome_digits(const Destination& destination);
/// Replaces all but the last four characters with `*`, and all characters of a shorter text.
std::string masked(std::string_view number);
/// With every masked member (TextRule::masked) as in lists.
Destination masked(Destination destination);

/// A destination as received. The crypto members may also be in `own`, according to the contract.
struct DestinationInput {
  TextMembers own;
  std::optional<TextMembers> bank, mobile_money, crypto;
};
/// Replaces the masked form of a member of `present` with its value, so that a destination can be
/// sent back as a list shows it. Any other masked form is an error of validation.
void restore_masked(DestinationInput& input, const Destination& present);

// Beneficiaries -----------------------------------------------------------------------------------

struct Individual {
  std::string first_name;
  std::string last_name;
  std::optional<std::string> email;
  std::optional<std::string> phone;
  std::optional<std::string> date_of_birth;
  std::optional<std::string> nationality;
  bool operator==(const Individual&) const = default;
};

template <>
struct TextFields<Individual> {
  static constexpr TextField<Individual> rows[] = {
      {"firstName", "first_name", &Individual::first_name, rule::text, "Given name", "Amina"},
      {"lastName", "last_name", &Individual::last_name, rule::text, "Family name", "Otieno"},
      {"email", "email", &Individual::email, rule::email, "E-mail address"},
      {"phone", "phone", &Individual::phone, rule::phone, "Phone number in E.164 format"},
      {"dateOfBirth", "date_of_birth", &Individual::date_of_birth, rule::date_of_birth,
       "Date of birth"},
      {"nationality", "nationality", &Individual::nationality, rule::country_alpha3,
       "Country of nationality"},
  };
};

struct Company {
  std::string company_name;
  std::optional<std::string> registration_number;
  std::optional<std::string> email;
  std::optional<std::string> phone;
  std::optional<std::string> registration_country;
  bool operator==(const Company&) const = default;
};

template <>
struct TextFields<Company> {
  static constexpr TextField<Company> rows[] = {
      {"companyName", "company_name", &Company::company_name, rule::text,
       "Registered name of the company", "Kestrel Traders Ltd"},
      {"registrationNumber", "registration_number", &Company::registration_number, rule::text,
       "Registration number of the company", "PVT-2019-0042"},
      {"email", "email", &Company::email, rule::email, "E-mail address"},
      {"phone", "phone", &Company::phone, rule::phone, "Phone number in E.164 format"},
      {"registrationCountry", "registration_country", &Company::registration_country,
       rule::country_alpha3, "Country of registration"},
  };
};

struct Address {
  std::optional<std::string> type;
  std::string line1;
  std::optional<std::string> line2;
  std::string city;
  std::optional<std::string> state;
  std::optional<std::string> postal_code;
  std::string country;
  bool operator==(const Address&) const = default;
};

template <>
struct TextFields<Address> {
  static constexpr TextField<Address> rows[] = {
      {"type", "type", &Address::type, rule::text_up_to(50),
       "Kind of address, such as `home` or `registered`", "home"},
      {"line1", "line1", &Address::line1, rule::text, "Street and number", "Moi Avenue 12"},
      {"line2", "line2", &Address::line2, rule::text, "Second line of the address"},
      {"city", "city", &Address::city, rule::text, "City or town", "Nairobi"},
      {"state", "state", &Address::state, rule::text, "State, province or region"},
      {"postalCode", "postal_code", &Address::postal_code, rule::text_up_to(50), "Postal code"},
      {"countryIsoCode2", "country", &Address::country, rule::country_alpha2, "ISO 3166-1 alpha-2",
       "KE"},
  };
};

struct Beneficiary {
  std::variant<Individual, Company> party;
  std::vector<Address> addresses;
  std::vector<std::string> tags;
  std::optional<std::string> client_reference;
  bool operator==(const Beneficiary&) const = default;
};

/// `individual` in the contract is EntityType::person.
EntityType entity_type(const Beneficiary& beneficiary);
/// `First Last`, or the company name.
std::string display_name(const Beneficiary& beneficiary);
const std::optional<std::string>& email(const Beneficiary& beneficiary);
const std::optional<std::string>& phone(const Beneficiary& beneficiary);
/// Name, e-mail address and client reference, on a line each, for the filter `q` of the list
/// (domain/parties/search_words.h, which folds case).
std::string search_text(const Beneficiary& beneficiary);

struct BeneficiaryInput {
  std::optional<TextMembers> individual;
  std::optional<TextMembers> business;
  std::vector<TextMembers> addresses;
  std::vector<std::optional<std::string>> tags;
  std::optional<std::string> client_reference;
};

// Validation --------------------------------------------------------------------------------------

inline constexpr std::size_t kDestinationsMax = 20;  // per beneficiary, not counting archived ones
inline constexpr std::size_t kAddressesMax = 10;
inline constexpr std::size_t kTagsMax = 20;

/// External data for validation; flows/parties/beneficiary_changes.h provides it.
struct BeneficiaryRules {
  Timestamp today;                  // limits dates of birth
  std::string_view ledger_network;  // the embedded ledger's name, also called `stellar`
  bool (*is_ledger_key)(std::string_view text);  // whether the text is a canonical StrKey G key
};

/// Trims and normalises. Adds all errors to `errors` under their JSON path (starting with
/// `prefix`): `malformed-request` for wrong shapes, `validation-failed` for invalid values. Fields
/// that already have an error get no second one. The result is valid only if `errors` is empty
/// afterwards.
Beneficiary validate_beneficiary(const BeneficiaryInput& input, const BeneficiaryRules& rules,
                                 ValidationErrors& errors);
Destination validate_destination(const DestinationInput& input, const BeneficiaryRules& rules,
                                 const std::string& prefix, ValidationErrors& errors);

}  // namespace coffer
