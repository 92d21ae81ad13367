// Recovery codes of operators: instead of a code of an authenticator that is lost. 80 random bits,
// as four groups of four characters of base32.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/random.h"
#include "base/strong.h"

namespace coffer::auth {

/// As in `MZXW-6YTB-OI4D-QNZV`.
Secret generate_recovery_code(Random& random);
/// The sixteen characters in upper case; hyphens and spaces are ignored. nullopt for anything else.
std::optional<std::string> parse_recovery_code(std::string_view text);

}  // namespace coffer::auth
