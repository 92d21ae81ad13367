#include "domain/contact.h"

#include <algorithm>

#include "base/text/ascii.h"
#include "base/text/unicode.h"
#include "domain/country.h"
#include "domain/iban.h"

namespace coffer {
namespace {

constexpr std::size_t kEmailLocalMax = 64;  // RFC 5321 section 4.5.3.1.1
constexpr std::size_t kPhoneDigitsMin = 7;
constexpr std::size_t kPhoneDigitsMax = 15;  // E.164
constexpr std::string_view kEarliestBirth = "1900-01-01";

unsigned byte_of(char c) { return static_cast<unsigned char>(c); }

bool is_domain_label(std::string_view label) {
  if (label.empty() || label.size() > 63 || label.front() == '-' || label.back() == '-') {
    return false;
  }
  // Bytes above 0x7f belong to an internationalised name (RFC 6531), which the mail system checks.
  return std::ranges::all_of(
      label, [](char c) { return ascii::is_letter_or_digit(c) || c == '-' || byte_of(c) > 0x7f; });
}

}  // namespace

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

bool is_e164(std::string_view text) {
  if (!text.starts_with('+')) return false;
  text.remove_prefix(1);
  return text.size() >= kPhoneDigitsMin && text.size() <= kPhoneDigitsMax && text.front() != '0' &&
         std::ranges::all_of(text, ascii::is_digit);
}

bool is_masked(std::string_view text) {
  // One `*` inside is part of a federated address such as name*example.com.
  return text.starts_with('*') || text.find("**") != std::string_view::npos;
}

std::optional<std::string> present(std::string text) {
  if (text.empty()) return std::nullopt;
  return text;
}

void ContactReader::add(Slug slug, std::string_view field, std::string message) {
  std::string path = prefix_ + std::string(field);
  if (!errors_.names(path)) errors_.add(slug, std::move(path), std::move(message));
}

std::string ContactReader::text(std::string_view field, const Input& input, Need need,
                                std::size_t length_max) {
  if (!input) {
    if (need == Need::required) malformed(field, "is required");
    return {};
  }
  const std::string_view value = without_outer_space(*input);
  std::string fault = line_fault(value, length_max);
  if (fault.empty()) return std::string(value);
  malformed(field, std::move(fault));
  return {};
}

std::optional<std::string> ContactReader::optional_text(std::string_view field, const Input& input,
                                                        std::size_t length_max) {
  return present(text(field, input, Need::optional, length_max));
}

std::optional<std::string> ContactReader::value(const TextFact& fact, const Input& input,
                                                Need need) {
  auto value = present(text(fact.name, input, need, fact.rule.length_max));
  if (!value) return std::nullopt;
  if (fact.rule.masked && is_masked(*value)) {
    // The published pattern of a phone number makes it an error of shape.
    const bool shape = fact.rule.kind == TextKind::phone;
    add(shape ? Slug::malformed_request : Slug::validation_failed, fact.name, kMaskedFault);
    return std::nullopt;
  }
  switch (fact.rule.kind) {
    case TextKind::any:
      break;
    case TextKind::date_of_birth:
      return date_of_birth(fact.name, *value);
    case TextKind::country_alpha2:
      return country_alpha2(fact.name, *value);
    case TextKind::country_alpha3:
      return country_alpha3(fact.name, *value);
    case TextKind::email:
      if (!is_email(*value)) invalid(fact.name, "must be an e-mail address");
      break;
    case TextKind::phone:
      if (!is_e164(*value)) {
        malformed(fact.name, "must be a phone number in E.164 form such as +254712345678");
      }
      break;
    case TextKind::iban:
      return iban(fact.name, *value);
    case TextKind::bic:
      value = parse_bic(*value);
      if (!value) {
        invalid(fact.name,
                "must be a BIC: 8 or 11 letters and digits, with the code of an existing country");
      }
      break;
  }
  return value;
}

std::optional<std::string> ContactReader::country_alpha2(std::string_view field,
                                                         const std::string& text) {
  auto code = parse_country_alpha2(text);
  if (code) return *std::move(code);
  add(code.error().slug, field, code.error().detail);
  return std::nullopt;
}

std::optional<std::string> ContactReader::iban(std::string_view field, const std::string& text) {
  auto iban = parse_iban(text);
  if (iban) return iban;
  const std::string country = ascii::to_upper(text.substr(0, 2));
  if (is_country_alpha2(country) && iban_country(country) != country) {
    invalid(field, "must be an IBAN; no IBAN begins with " + country);
  } else {
    invalid(field, "must be an IBAN: its length or its check digits are wrong");
  }
  return std::nullopt;
}

std::optional<std::string> ContactReader::country_alpha3(std::string_view field,
                                                         const std::string& text) {
  if (text.size() < 2 || text.size() > 3 || !std::ranges::all_of(text, ascii::is_letter)) {
    malformed(field, "must be an ISO 3166-1 code of two or three letters such as KE or KEN");
    return std::nullopt;
  }
  auto alpha3 = to_alpha3(text);
  if (!alpha3) invalid(field, "must be the code of a country in ISO 3166-1");
  return alpha3;
}

std::optional<std::string> ContactReader::date_of_birth(std::string_view field,
                                                        const std::string& text) {
  // Dates in this format compare as text.
  const std::string today = today_.to_string().substr(0, 10);
  if (text.size() != today.size() || !Timestamp::parse(text)) {
    invalid(field, "must be a real date in the form YYYY-MM-DD");
  } else if (text > today) {
    invalid(field, "must not be in the future");
  } else if (text < kEarliestBirth) {
    invalid(field, "must be " + std::string(kEarliestBirth) + " or later");
  } else {
    return text;
  }
  return std::nullopt;
}

}  // namespace coffer
