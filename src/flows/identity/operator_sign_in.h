// Operators signing in with password and second factor, and changing their own credentials. Every
// sign-in, failure and change is in the audit log.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "flows/context.h"
#include "flows/identity/passkeys.h"
#include "flows/identity/sign_in_guard.h"
#include "store/identity/operators.h"

namespace coffer::flows {

/// What operators prove with who they are. The code is one of the authenticator, or a recovery
/// code; it is used up. A passkey takes its place. Neither is checked until there is a second
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

/// All of the following: `unauthorized`, the same for every cause; `rate-limited` after too many
/// failed attempts. Slow on purpose: one at a time. An operator with passkeys who gives no code is
/// asked for a passkey.
Result<SignInStep> sign_in_operator(const Context& context, const std::string& name,
                                    const OperatorProof& proof, const SignInSource& source);
/// Before another authenticator or passkey; `command` is for the audit log.
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
/// New recovery codes instead of the present ones; shown once. `conflict` without a second factor.
Result<std::vector<Secret>> renew_recovery_codes(const Context& context, OperatorId id,
                                                 const OperatorProof& proof,
                                                 const SignInSource& source);

/// An authenticator or a passkey.
bool has_second_factor(const store::OperatorRow& row);
/// Whether the operator has to enrol one before anything else.
bool needs_second_factor(const store::OperatorRow& row);

struct EnrolledOperator {
  store::OperatorRow row;
  std::vector<Secret> recovery_codes;  // shown once
};
/// Sets the authenticator whose raw key gives `code` now, and ends the other sessions.
/// `validation-failed` when the code is wrong. The caller had the operator proved.
Result<EnrolledOperator> enrol_otp(const Context& context, OperatorId id, const Secret& key,
                                   const std::string& code, const SignInSource& source);

}  // namespace coffer::flows
