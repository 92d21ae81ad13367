// Checks the strength of a password that an operator chooses.
#pragma once

#include <string>
#include <string_view>

namespace coffer::auth {

/// What is wrong with the password of the operator with this name, as the end of a sentence that
/// begins with the password ("must have at least 12 characters"); empty if it is accepted.
///
/// In addition to the length, the password must not be the name or a common password, also not with
/// digits and signs around it, in upper case, or repeated.
std::string password_fault(std::string_view password, std::string_view name);

/// Whether `word`, in lower case, is in the list of the most common passwords.
bool is_common_password(std::string_view word);

}  // namespace coffer::auth
