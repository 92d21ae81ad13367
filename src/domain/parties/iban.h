// IBANs and BICs, validated by their own rules (ISO 13616, ISO 9362).
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace coffer {

/// The electronic form (upper case, no spaces) of an IBAN with a valid country, length and check
/// digits; nullopt for anything else. Spaces between groups and lower case are accepted. If the
/// registry does not list the country, the length must be 15 to 34.
std::optional<std::string> parse_iban(std::string_view text);

/// The upper-case form of a BIC: 8 or 11 characters with an existing country; nullopt for anything
/// else.
std::optional<std::string> parse_bic(std::string_view text);

}  // namespace coffer
