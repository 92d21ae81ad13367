// Wallet rules: review status and compliance details (docs/contract.md#wallets).
// The store keeps WalletStatus and EntityType as integers: append, never reorder.
#pragma once

#include <optional>
#include <string>
#include <variant>

#include "base/clock.h"
#include "base/result.h"
#include "domain/tables/terms.h"
#include "domain/tables/text_field.h"

namespace coffer {

enum class WalletStatus { pending, verified, rejected };

template <>
struct Terms<WalletStatus> {
  static constexpr auto rows = std::to_array<Term>({{"Pending"}, {"Verified"}, {"Rejected"}});
};

/// Pending -> Verified | Rejected by the review; Verified | Rejected -> Pending by a change of
/// metadata. Any other change is rejected, including to the same status.
bool may_change(WalletStatus from, WalletStatus to);
/// An own wallet can be used immediately; a third party's wallet waits for the review.
WalletStatus initial_wallet_status(bool own_account);
/// A third party's wallet returns to the review; an own wallet keeps its status.
WalletStatus status_after_metadata_change(WalletStatus status, bool own_account);

/// Why a wallet was rejected; shown as `statusReason`.
struct WalletStatusReason {
  std::string code;
  std::string message;
  bool operator==(const WalletStatusReason&) const = default;
};

enum class EntityType { person, business };

template <>
struct Terms<EntityType> {
  static constexpr auto rows = std::to_array<Term>(
      {{"Person", "Person, including sole proprietors"}, {"Business", "Business"}});
};

/// Includes sole proprietors.
struct PersonMetadata {
  std::string first_name;
  std::string last_name;
  std::string date_of_birth;
  std::string nationality;
  std::optional<std::string> id_type;
  std::optional<std::string> id_number;
  std::optional<std::string> address;
  std::optional<std::string> email;
  std::optional<std::string> phone;
  bool operator==(const PersonMetadata&) const = default;
};

template <>
struct TextFields<PersonMetadata> {
  using Person = PersonMetadata;
  static constexpr TextField<Person> rows[] = {
      {"firstName", "first_name", &Person::first_name, rule::text, "Given name", "Amina"},
      {"lastName", "last_name", &Person::last_name, rule::text, "Family name", "Otieno"},
      {"dateOfBirth", "date_of_birth", &Person::date_of_birth, rule::date_of_birth,
       "Date of birth"},
      {"nationality", "nationality", &Person::nationality, rule::country_alpha3,
       "Country of nationality"},
      {"idType", "id_type", &Person::id_type, rule::text,
       "Type of identity document. GET /v1/payments/enums suggests codes"},
      {"idNumber", "id_number", &Person::id_number, rule::text, "Number of the identity document"},
      {"address", "address", &Person::address, rule::text_up_to(500), "Postal address on one line"},
      {"email", "email", &Person::email, rule::email, "E-mail address"},
      {"phone", "phone", &Person::phone, rule::phone, "Phone number in E.164 format"},
  };
};

struct BusinessMetadata {
  std::string company_name;
  std::string registration_number;
  std::string registration_country;
  std::optional<std::string> tax_id;
  std::optional<std::string> address;
  std::optional<std::string> contact_email;
  bool operator==(const BusinessMetadata&) const = default;
};

template <>
struct TextFields<BusinessMetadata> {
  using Business = BusinessMetadata;
  static constexpr TextField<Business> rows[] = {
      {"companyName", "company_name", &Business::company_name, rule::text,
       "Registered name of the company", "Kestrel Traders Ltd"},
      {"registrationNumber", "registration_number", &Business::registration_number, rule::text,
       "Registration number of the company", "PVT-2019-0042"},
      {"registrationCountry", "registration_country", &Business::registration_country,
       rule::country_alpha3, "Country of registration"},
      {"taxId", "tax_id", &Business::tax_id, rule::text, "Tax number"},
      {"address", "address", &Business::address, rule::text_up_to(500),
       "Postal address on one line"},
      {"contactEmail", "email", &Business::contact_email, rule::email, "E-mail address"},
  };
};

using Metadata = std::variant<PersonMetadata, BusinessMetadata>;

EntityType entity_type(const Metadata& metadata);
std::optional<std::string> email(const Metadata& metadata);
std::optional<std::string> phone(const Metadata& metadata);  // always empty for a business

/// Trims the values, normalises countries to alpha-3 and reports all invalid fields together, such
/// as `metadata.nationality`. A missing, blank, overlong or malformed field makes the Problem
/// `malformed-request`; otherwise invalid values make it `validation-failed`. Members of the other
/// entity type are ignored. `today` limits the date of birth.
Result<Metadata> validate_metadata(const TextMembers& input, Timestamp today);

/// The sandbox's simulated review of a new wallet (docs/contract.md#sandbox): a last or company
/// name that ends in 001 stays Pending, 002 is rejected, and any other waits for the operator or
/// the sandbox route.
enum class SandboxReview { stay_pending, reject, none };
SandboxReview sandbox_review(const Metadata& metadata);

}  // namespace coffer
