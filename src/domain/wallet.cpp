#include "domain/wallet.h"

#include <algorithm>
#include <array>
#include <vector>

#include "domain/country.h"

namespace coffer {
namespace {

constexpr std::array<std::string_view, 3> kStatuses{"Pending", "Verified", "Rejected"};
constexpr std::array<std::string_view, 2> kEntityTypes{"Person", "Business"};

// In bytes. Wide enough for any real value, narrow enough to index and to print.
constexpr std::size_t kTextMax = 200;
constexpr std::size_t kAddressMax = 500;
constexpr std::size_t kEmailMax = 254;      // RFC 5321 section 4.5.3.1.3, without the brackets
constexpr std::size_t kEmailLocalMax = 64;  // RFC 5321 section 4.5.3.1.1
constexpr std::size_t kPhoneDigitsMin = 7;
constexpr std::size_t kPhoneDigitsMax = 15;  // E.164
constexpr std::string_view kEarliestBirth = "1900-01-01";

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r\n\v\f";
  const auto begin = text.find_first_not_of(kSpace);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kSpace) - begin + 1);
}

bool has_control_character(std::string_view text) {
  return std::any_of(text.begin(), text.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte < 0x20 || byte == 0x7f;
  });
}

bool is_domain_label(std::string_view label) {
  if (label.empty() || label.size() > 63 || label.front() == '-' || label.back() == '-') {
    return false;
  }
  // Bytes above 0x7f: an internationalised name (RFC 6531) is the mail system's to judge.
  return std::all_of(label.begin(), label.end(), [](char c) {
    return is_letter(c) || is_digit(c) || c == '-' || static_cast<unsigned char>(c) > 0x7f;
  });
}

/// The form people use: a dotted local part without quotes, and a domain of at least two labels.
bool is_email(std::string_view text) {
  const auto at = text.find('@');
  if (at == std::string_view::npos || at == 0 || at > kEmailLocalMax) return false;
  const std::string_view local = text.substr(0, at);
  if (local.front() == '.' || local.back() == '.' || local.find("..") != std::string_view::npos ||
      local.find_first_of(" \"(),:;<>[\\]") != std::string_view::npos) {
    return false;
  }
  std::string_view domain = text.substr(at + 1);
  if (domain.find('.') == std::string_view::npos) return false;
  while (true) {
    const auto dot = domain.find('.');
    if (!is_domain_label(domain.substr(0, dot))) return false;
    if (dot == std::string_view::npos) return true;
    domain.remove_prefix(dot + 1);
  }
}

bool is_phone(std::string_view text) {
  if (!text.starts_with('+')) return false;
  text.remove_prefix(1);
  return text.size() >= kPhoneDigitsMin && text.size() <= kPhoneDigitsMax && text.front() != '0' &&
         std::all_of(text.begin(), text.end(), is_digit);
}

/// Whether a text is missing matters only once the entity type is known.
enum class Need { required, optional };

/// Takes one field after the other and collects what is wrong with each.
class MetadataReader {
 public:
  explicit MetadataReader(Timestamp today) : today_(today.to_string().substr(0, 10)) {}

  /// The trimmed text; empty when there is none or it is refused.
  std::string text(std::string_view field, const std::optional<std::string>& input, Need need,
                   std::size_t max_bytes = kTextMax) {
    if (!input) {
      if (need == Need::required) malformed(field, "is required");
      return {};
    }
    const std::string_view value = trimmed(*input);
    if (value.empty()) {
      malformed(field, "must not be blank");
    } else if (value.size() > max_bytes) {
      malformed(field, "must have at most " + std::to_string(max_bytes) + " bytes");
    } else if (has_control_character(value)) {
      malformed(field, "must not hold control characters");
    } else {
      return std::string(value);
    }
    return {};
  }

  std::optional<std::string> optional_text(std::string_view field,
                                           const std::optional<std::string>& input,
                                           std::size_t max_bytes = kTextMax) {
    return present(text(field, input, Need::optional, max_bytes));
  }

  std::string country(std::string_view field, const std::optional<std::string>& input, Need need) {
    const std::string value = text(field, input, need);
    if (value.empty()) return {};
    if (value.size() < 2 || value.size() > 3 ||
        !std::all_of(value.begin(), value.end(), is_letter)) {
      malformed(field, "must be an ISO 3166-1 code of two or three letters, as `KE` or `KEN`");
      return {};
    }
    const auto alpha3 = to_alpha3(value);
    if (!alpha3) invalid(field, "is not a country of ISO 3166-1");
    return alpha3.value_or("");
  }

  std::string date_of_birth(std::string_view field, const std::optional<std::string>& input,
                            Need need) {
    const std::string value = text(field, input, need);
    if (value.empty()) return {};
    // Ten characters of a date compare as text as the dates do.
    if (value.size() != today_.size() || !Timestamp::parse(value)) {
      invalid(field, "must be a real date in the form YYYY-MM-DD");
    } else if (value > today_) {
      invalid(field, "must not be in the future");
    } else if (value < kEarliestBirth) {
      invalid(field, "must be " + std::string(kEarliestBirth) + " or later");
    } else {
      return value;
    }
    return {};
  }

  std::optional<std::string> email(std::string_view field,
                                   const std::optional<std::string>& input) {
    auto value = optional_text(field, input, kEmailMax);
    if (value && !is_email(*value)) invalid(field, "must be an e-mail address");
    return value;
  }

  std::optional<std::string> phone(std::string_view field,
                                   const std::optional<std::string>& input) {
    auto value = optional_text(field, input);
    if (value && !is_phone(*value)) {
      invalid(field, "must be a number in E.164 form, as `+254712345678`");
    }
    return value;
  }

  std::optional<EntityType> entity(std::string_view field,
                                   const std::optional<std::string>& input) {
    const std::string value = text(field, input, Need::required);
    if (value.empty()) return std::nullopt;
    const auto type = parse_entity_type(value);
    if (!type) invalid(field, "must be `Person` or `Business`");
    return type;
  }

  bool clean() const { return errors_.empty(); }

  Problem problem() && {
    return malformed_ ? Problem(Slug::malformed_request,
                                "The metadata is not of the declared shape.", std::move(errors_))
                      : Problem(Slug::validation_failed, "The metadata holds wrong values.",
                                std::move(errors_));
  }

 private:
  static std::optional<std::string> present(std::string value) {
    if (value.empty()) return std::nullopt;
    return value;
  }

  void malformed(std::string_view field, const std::string& message) {
    malformed_ = true;
    add(field, message);
  }
  void invalid(std::string_view field, const std::string& message) { add(field, message); }
  void add(std::string_view field, const std::string& message) {
    errors_.push_back({"metadata." + std::string(field), message});
  }

  std::string today_;  // YYYY-MM-DD
  std::vector<FieldError> errors_;
  bool malformed_ = false;
};

PersonMetadata read_person(MetadataReader& reader, const MetadataInput& input, Need need) {
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

BusinessMetadata read_business(MetadataReader& reader, const MetadataInput& input) {
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
void read_either(MetadataReader& reader, const MetadataInput& input) {
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

Result<Metadata> validate_metadata(const MetadataInput& input, Timestamp today) {
  MetadataReader reader(today);
  const auto type = reader.entity("entityType", input.entity_type);
  if (!type) {
    read_either(reader, input);
    return unexpected(std::move(reader).problem());
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
  if (!reader.clean()) return unexpected(std::move(reader).problem());
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
