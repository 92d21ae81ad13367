// Changes of users by the operator: enrolment, resets, suspension (docs/contract.md#otp-login).
#pragma once

#include <string>
#include <string_view>

#include "base/strong.h"
#include "flows/context.h"
#include "store/identity/users.h"

namespace coffer::flows {

/// Names compare without regard to ASCII case.
std::string folded_username(std::string_view username);
/// The folded name; `validation-failed` unless it is 1 to 64 of `A-Za-z0-9._@+-`. `field` is the
/// caller's name for it.
Result<std::string> parse_username(std::string_view text, std::string_view field);
/// The raw TOTP key of a user.
Result<Secret> open_otp_key(const Context& context, const store::UserRow& user);

/// The secrets that the operator hands to the user. They are shown once; an empty one is unchanged.
struct EnrolledUser {
  store::UserRow user;
  Secret password;
  Secret otpauth_uri;  // for an authenticator app, as text or QR code
};

/// Adds a user with a generated password and TOTP key. Problems: `validation-failed` (the name is
/// not 1 to 64 of `A-Za-z0-9._@+-`), `not-found` (association), `conflict` (name taken).
Result<EnrolledUser> add_user(const Context& context, const std::string& username,
                              AssociationId association);
/// Each revokes the tokens of the user. `not-found` if the user does not exist.
Result<EnrolledUser> reset_otp(const Context& context, UserId id);
Result<EnrolledUser> reset_password(const Context& context, UserId id);
Result<store::UserRow> suspend_user(const Context& context, UserId id, bool suspended);

}  // namespace coffer::flows
