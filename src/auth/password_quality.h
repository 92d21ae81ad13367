// Whether a password that an operator chooses is good enough.
#pragma once

#include <string>
#include <string_view>

namespace coffer::auth {

/// What is wrong with the password of the operator with this name, as the end of a sentence that
/// begins with the password ("must have at least 12 characters"); empty if nothing is.
///
/// Beside its length: it is not the name and not a password that many people have, also with digits
/// and signs around it, in upper case, or repeated.
std::string password_fault(std::string_view password, std::string_view name);

/// Whether `word`, in lower case, is one of the passwords that people choose most often.
bool is_common_password(std::string_view word);

}  // namespace coffer::auth
