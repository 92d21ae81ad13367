// Operators of the admin page: adding, one-time links, sign-in, roles. An operator uses a link to
// set a password and then enrols an authenticator, so only the operator knows the password.
#pragma once

#include <optional>
#include <string>

#include "base/strong.h"
#include "flows/context.h"
#include "flows/identity/sign_in_guard.h"
#include "store/identity/operators.h"

namespace coffer::flows {

inline constexpr std::int64_t kLinkLifetimeMs = kDayMs;

/// A new operator, and the secret of the link with which they can set a password and sign in.
struct InvitedOperator {
  store::OperatorRow row;
  Secret link;  // shown once; valid for kLinkLifetimeMs and one use
};

/// `validation-failed` (name), `conflict` (name taken).
Result<InvitedOperator> invite_operator(const Context& context, const std::string& name,
                                        OperatorRole role);
/// Removes password, authenticator, passkeys and the link to a provider, ends the sessions, and
/// returns a new one-time link.
Result<InvitedOperator> reset_operator(const Context& context, const std::string& name);
/// A link that makes its holder an administrator with a name of their choice: the first one, or a
/// further one if access was lost. Earlier links of this kind become invalid.
Result<Secret> administrator_link(const Context& context);

/// `not-found`; `conflict` if no administrator would remain. Both end the sessions.
Result<store::OperatorRow> change_operator_role(const Context& context, const std::string& name,
                                                OperatorRole role);
Result<store::OperatorRow> suspend_operator(const Context& context, const std::string& name,
                                            bool suspended);

/// By the name as typed; `not-found`.
Result<store::OperatorRow> find_operator(const Context& context, const std::string& name);
Result<std::string> operator_name(const Context& context, OperatorId id);
/// `not-found`.
Result<void> end_operator_sessions(const Context& context, const std::string& name);

/// The operator whose link this is; empty if its holder chooses a name. Problems as for
/// claim_link().
Result<std::string> name_of_link(const Context& context, const std::string& link,
                                 const SignInSource& source);
/// Marks the link as used and sets the password. `name` applies only to a link that makes an
/// administrator. `unauthorized` if the link is invalid, used or expired; `rate-limited` after too
/// many invalid links from one source; `validation-failed` (name, password). A valid link is never
/// rejected because of invalid ones.
Result<store::OperatorRow> claim_link(const Context& context, const std::string& link,
                                      const std::optional<std::string>& name,
                                      const Secret& password, const SignInSource& source);
/// Creates an administrator with this password, for the demo and for COFFER_ADMIN_PASSWORD. An
/// existing operator is not changed. Problems: `validation-failed` (name, password).
Result<store::OperatorRow> ensure_administrator(const Context& context, const std::string& name,
                                                const Secret& password, bool otp_required);

}  // namespace coffer::flows
