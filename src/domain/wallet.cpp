#include "domain/wallet.h"

#include <algorithm>
#include <array>

#include "domain/party/contact.h"

namespace coffer {
namespace {

constexpr std::array<std::string_view, 3> kStatuses{"Pending", "Verified", "Rejected"};
constexpr std::array<std::string_view, 2> kEntityTypes{"Person", "Business"};

using Need = ContactReader::Need;

constexpr std::size_t kAddressMax = 500;  // characters

std::optional<EntityType> read_entity_type(ContactReader& reader,
                                           const std::optional<std::string>& input) {
  const std::string value = reader.text("entityType", input, Need::required);
  if (value.empty()) return std::nullopt;
  const auto type = parse_entity_type(value);
  if (!type) reader.invalid("entityType", "must be `Person` or `Business`");
  return type;
}

PersonMetadata read_person(ContactReader& reader, const MetadataInput& input, Need need) {
  PersonMetadata person;
  person.first_name = reader.text("firstName", input.first_name, need);
  person.last_name = reader.text("lastName", input.last_name, need);
  person.date_of_birth = reader.date_of_birth("dateOfBirth", input.date_of_birth, need);
  person.nationality = reader.country("nationality", input.nationality, need);
  person.id_type = reader.optional_text("idType", input.id_type);
  person.id_number = reader.optional_text("idNumber", input.id_number);
  person.address = reader.optional_text("address", input.address, kAddressMax);
  person.email = reader.email("email", input.email);
  person.phone = reader.phone("phone", input.phone);
  return person;
}

BusinessMetadata read_business(ContactReader& reader, const MetadataInput& input) {
  BusinessMetadata business;
  business.company_name = reader.text("companyName", input.company_name, Need::required);
  business.registration_number =
      reader.text("registrationNumber", input.registration_number, Need::required);
  business.registration_country =
      reader.country("registrationCountry", input.registration_country, Need::required);
  business.tax_id = reader.optional_text("taxId", input.tax_id);
  business.address = reader.optional_text("address", input.address, kAddressMax);
  business.contact_email = reader.email("contactEmail", input.contact_email);
  return business;
}

/// With the type unknown nothing else can be called missing, but what is there can be judged.
void read_either(ContactReader& reader, const MetadataInput& input) {
  read_person(reader, input, Need::optional);
  reader.optional_text("companyName", input.company_name);
  reader.optional_text("registrationNumber", input.registration_number);
  reader.country("registrationCountry", input.registration_country, Need::optional);
  reader.optional_text("taxId", input.tax_id);
  reader.email("contactEmail", input.contact_email);
}

}  // namespace

std::string_view name(WalletStatus status) {
  return kStatuses.at(static_cast<std::size_t>(status));
}

std::optional<WalletStatus> parse_wallet_status(std::string_view text) {
  const auto it = std::find(kStatuses.begin(), kStatuses.end(), text);
  if (it == kStatuses.end()) return std::nullopt;
  return static_cast<WalletStatus>(it - kStatuses.begin());
}

bool may_change(WalletStatus from, WalletStatus to) {
  switch (from) {
    case WalletStatus::pending:
      return to == WalletStatus::verified || to == WalletStatus::rejected;
    case WalletStatus::verified:
    case WalletStatus::rejected:
      return to == WalletStatus::pending;
  }
  return false;
}

WalletStatus initial_wallet_status(bool own_account) {
  return own_account ? WalletStatus::verified : WalletStatus::pending;
}

WalletStatus status_after_metadata_change(WalletStatus status, bool own_account) {
  return own_account ? status : WalletStatus::pending;
}

std::string_view name(EntityType type) { return kEntityTypes.at(static_cast<std::size_t>(type)); }

std::optional<EntityType> parse_entity_type(std::string_view text) {
  const auto it = std::find(kEntityTypes.begin(), kEntityTypes.end(), text);
  if (it == kEntityTypes.end()) return std::nullopt;
  return static_cast<EntityType>(it - kEntityTypes.begin());
}

EntityType entity_type(const Metadata& metadata) {
  return std::holds_alternative<PersonMetadata>(metadata) ? EntityType::person
                                                          : EntityType::business;
}

std::optional<std::string> email(const Metadata& metadata) {
  const auto* person = std::get_if<PersonMetadata>(&metadata);
  return person != nullptr ? person->email : std::get<BusinessMetadata>(metadata).contact_email;
}

std::optional<std::string> phone(const Metadata& metadata) {
  const auto* person = std::get_if<PersonMetadata>(&metadata);
  return person != nullptr ? person->phone : std::nullopt;
}

Result<Metadata> validate_metadata(const MetadataInput& input, Timestamp today) {
  Faults faults;
  ContactReader reader(faults, "metadata.", today);
  const auto type = read_entity_type(reader, input.entity_type);
  if (!type) {
    read_either(reader, input);
    return unexpected(faults.problem());
  }
  Metadata metadata;
  switch (*type) {
    case EntityType::person:
      metadata = read_person(reader, input, Need::required);
      break;
    case EntityType::business:
      metadata = read_business(reader, input);
      break;
  }
  if (!faults.empty()) return unexpected(faults.problem());
  return metadata;
}

SandboxReview sandbox_review(const Metadata& metadata) {
  const auto* person = std::get_if<PersonMetadata>(&metadata);
  const std::string_view text =
      person != nullptr ? person->last_name : std::get<BusinessMetadata>(metadata).company_name;
  if (text.ends_with("001")) return SandboxReview::stay_pending;
  if (text.ends_with("002")) return SandboxReview::reject;
  return SandboxReview::none;
}

}  // namespace coffer
