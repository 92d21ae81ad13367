// IBANs and BICs, validated by their own rules (ISO 13616, ISO 9362).
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace coffer {

/// The country code with which IBANs of accounts in `country` begin: usually its own, but that of
/// another country for some territories, such as GB for Jersey. Empty if there are no IBANs.
std::string_view iban_country(std::string_view country);

/// The electronic form (upper case, no spaces) of an IBAN with a country of the IBAN registry and
/// the right length and check digits; nullopt for anything else. Spaces between groups and lower
/// case are accepted.
std::optional<std::string> parse_iban(std::string_view text);

/// The upper-case form of a BIC: 8 or 11 characters with an existing country; nullopt for anything
/// else.
std::optional<std::string> parse_bic(std::string_view text);

}  // namespace coffer
