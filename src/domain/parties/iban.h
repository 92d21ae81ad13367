// Account numbers and bank codes that carry their own proof (ISO 13616, ISO 9362).
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace coffer {

/// The electronic form (upper case, no spaces) of an IBAN whose country, length and check digits
/// hold; nullopt for anything else. Spaces between groups and lower case are accepted. The length
/// is checked where the registry lists the country, else it is 15 to 34.
std::optional<std::string> parse_iban(std::string_view text);

/// The upper-case form of a BIC: 8 or 11 characters, with a real country; nullopt for anything
/// else.
std::optional<std::string> parse_bic(std::string_view text);

}  // namespace coffer
