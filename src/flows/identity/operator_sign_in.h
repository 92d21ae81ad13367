// Sign-in of operators with password and second factor, and changes of their own credentials. The
// audit log records every sign-in, failure and change.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "flows/context.h"
#include "flows/identity/passkeys.h"
#include "flows/identity/sign_in_guard.h"
#include "store/identity/operators.h"

namespace coffer::flows {

/// The proof of an operator's identity. The code is an authenticator code or a recovery code, and
/// works once. A passkey can replace it. Neither is checked before the operator has a second
/// factor: see needs_second_factor.
struct OperatorProof {
  Secret password;
  std::string code = {};
  std::optional<PasskeyProof> passkey = {};
};

struct SignInStep {
  store::OperatorRow row;
  bool needs_passkey = false;  // signed in only after a passkey (sign_in_with_passkey)
};

/// This function and those below return `unauthorized` without revealing the cause, and
/// `rate-limited` after too many failed attempts. They are deliberately slow; call one at a time.
/// An operator with passkeys who enters no code must use a passkey.
Result<SignInStep> sign_in_operator(const Context& context, const std::string& name,
                                    const OperatorProof& proof, const SignInSource& source);
/// Verifies the operator before another authenticator or passkey is added. `command` is for the
/// audit log.
Result<void> prove_operator(const Context& context, OperatorId id, std::string_view command,
                            const OperatorProof& proof, const SignInSource& source);
/// See remove_passkey.
Result<store::OperatorRow> remove_own_passkey(const Context& context, OperatorId id,
                                              const std::string& listed_id,
                                              const OperatorProof& proof,
                                              const SignInSource& source);
/// Ends the other sessions. `validation-failed` (password) for a weak password.
Result<store::OperatorRow> change_operator_password(const Context& context, OperatorId id,
                                                    const OperatorProof& proof, const Secret& next,
                                                    const SignInSource& source);
/// Replaces the recovery codes; the new ones are shown once. `conflict` without a second factor.
Result<std::vector<Secret>> renew_recovery_codes(const Context& context, OperatorId id,
                                                 const OperatorProof& proof,
                                                 const SignInSource& source);

/// The operator as an account for known_browser().
GuardedAccount account_of(const store::OperatorRow& row);
/// Whether the operator has an authenticator or a passkey.
bool has_second_factor(const store::OperatorRow& row);
/// Whether the operator must enrol a second factor before doing anything else.
bool needs_second_factor(const store::OperatorRow& row);

struct EnrolledOperator {
  store::OperatorRow row;
  std::vector<Secret> recovery_codes;  // shown once
};
/// Sets the authenticator with the raw key `key` if `code` matches it now, and ends the other
/// sessions. `validation-failed` if the code is wrong. The caller must have verified the operator
/// (prove_operator).
Result<EnrolledOperator> enrol_otp(const Context& context, OperatorId id, const Secret& key,
                                   const std::string& code, const SignInSource& source);

}  // namespace coffer::flows
