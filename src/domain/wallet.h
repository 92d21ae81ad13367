// Wallet rules: review status and compliance details (docs/contract.md#wallets).
// The store keeps WalletStatus and EntityType as integers: append, never reorder.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "base/clock.h"
#include "base/result.h"

namespace coffer {

enum class WalletStatus { pending, verified, rejected };

/// `Pending`, `Verified`, `Rejected`, as the contract spells them.
std::string_view name(WalletStatus status);
std::optional<WalletStatus> parse_wallet_status(std::string_view text);

/// Pending -> Verified | Rejected by the review; Verified | Rejected -> Pending by a change of
/// metadata. Anything else is refused, staying as it is included.
bool may_change(WalletStatus from, WalletStatus to);
/// An own wallet is usable at once; a third party's waits for the review.
WalletStatus initial_wallet_status(bool own_account);
/// A third party's wallet goes back to the review; an own wallet keeps its status.
WalletStatus status_after_metadata_change(WalletStatus status, bool own_account);

/// Why a wallet was rejected; shown as `statusReason`.
struct WalletStatusReason {
  std::string code;
  std::string message;
  bool operator==(const WalletStatusReason&) const = default;
};

enum class EntityType { person, business };

/// `Person`, `Business`.
std::string_view name(EntityType type);
std::optional<EntityType> parse_entity_type(std::string_view text);

/// Includes sole proprietors.
struct PersonMetadata {
  std::string first_name;
  std::string last_name;
  std::string date_of_birth;  // YYYY-MM-DD
  std::string nationality;    // ISO 3166-1 alpha-3
  std::optional<std::string> id_type;
  std::optional<std::string> id_number;
  std::optional<std::string> address;
  std::optional<std::string> email;
  std::optional<std::string> phone;  // E.164
  bool operator==(const PersonMetadata&) const = default;
};

struct BusinessMetadata {
  std::string company_name;
  std::string registration_number;
  std::string registration_country;  // ISO 3166-1 alpha-3
  std::optional<std::string> tax_id;
  std::optional<std::string> address;
  std::optional<std::string> contact_email;
  bool operator==(const BusinessMetadata&) const = default;
};

using Metadata = std::variant<PersonMetadata, BusinessMetadata>;

EntityType entity_type(const Metadata& metadata);
std::optional<std::string> email(const Metadata& metadata);
std::optional<std::string> phone(const Metadata& metadata);  // a business has none

/// The `metadata` object as received; a JSON null is the same as an absent member.
struct MetadataInput {
  std::optional<std::string> entity_type;
  std::optional<std::string> first_name;
  std::optional<std::string> last_name;
  std::optional<std::string> date_of_birth;
  std::optional<std::string> nationality;
  std::optional<std::string> id_type;
  std::optional<std::string> id_number;
  std::optional<std::string> address;
  std::optional<std::string> email;
  std::optional<std::string> phone;
  std::optional<std::string> company_name;
  std::optional<std::string> registration_number;
  std::optional<std::string> registration_country;
  std::optional<std::string> tax_id;
  std::optional<std::string> contact_email;
};

/// Trims, normalises countries to alpha-3 and reports every bad field at once, as
/// `metadata.nationality`. A field that is missing, blank, too long or of the wrong shape makes the
/// Problem `malformed-request`; otherwise wrong values make it `validation-failed`. Members of the
/// other entity type are ignored. `today` bounds the date of birth.
Result<Metadata> validate_metadata(const MetadataInput& input, Timestamp today);

/// What the sandbox's simulated review does with a new wallet (docs/contract.md#sandbox): a last
/// or company name ending 001 stays Pending whatever happens, 002 is rejected; all others wait for
/// the operator or the sandbox route.
enum class SandboxReview { stay_pending, reject, none };
SandboxReview sandbox_review(const Metadata& metadata);

}  // namespace coffer
