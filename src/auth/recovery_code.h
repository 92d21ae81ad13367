// Recovery codes of operators, used in place of a one-time code when the authenticator is lost. 80
// random bits in base32, in four groups of four characters.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/random.h"
#include "base/strong.h"

namespace coffer::auth {

/// Such as `MZXW-6YTB-OI4D-QNZV`.
Secret generate_recovery_code(Random& random);
/// The sixteen characters in upper case; hyphens and spaces are ignored. nullopt for anything else.
std::optional<std::string> parse_recovery_code(std::string_view text);

}  // namespace coffer::auth
