#include "domain/ledger/wallet.h"

#include "domain/contact.h"

namespace coffer {
namespace {

using Need = ContactReader::Need;

std::optional<EntityType> read_entity_type(ContactReader& reader,
                                           const std::optional<std::string>& input) {
  const std::string value = reader.text("entityType", input, Need::required);
  if (value.empty()) return std::nullopt;
  const auto type = parse_term<EntityType>(value);
  if (!type) reader.invalid("entityType", "must be `Person` or `Business`");
  return type;
}

}  // namespace

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

Result<Metadata> validate_metadata(const TextMembers& input, Timestamp today) {
  ValidationErrors errors;
  ContactReader reader(errors, "metadata.", today);
  const auto type = read_entity_type(reader, find_member(input, "entityType"));
  if (!type) {
    // Without an entity type, no field is required, but present fields are checked.
    reader.read<PersonMetadata>(input, Need::optional);
    reader.read<BusinessMetadata>(input, Need::optional);
    return unexpected(errors.problem());
  }
  Metadata metadata;
  switch (*type) {
    case EntityType::person:
      metadata = reader.read<PersonMetadata>(input);
      break;
    case EntityType::business:
      metadata = reader.read<BusinessMetadata>(input);
      break;
  }
  COFFER_TRY_VOID(errors.check());
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
