// Operators signing in with password and authenticator, and changing their own credentials. Every
// sign-in, failure and change is in the audit log.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "flows/context.h"
#include "flows/identity/sign_in_guard.h"
#include "store/identity/operators.h"

namespace coffer::flows {

/// What operators prove with who they are. The code is one of the authenticator, or a recovery
/// code; it is used up. It is not checked until an authenticator is enrolled: see needs_otp.
struct OperatorProof {
  Secret password;
  std::string code = {};
};

/// All of the following: `unauthorized`, the same for every cause; `rate-limited` after too many
/// failed attempts. Slow on purpose: one at a time.
Result<store::OperatorRow> sign_in_operator(const Context& context, const std::string& name,
                                            const OperatorProof& proof, const SignInSource& source);
/// Before the enrolment of another authenticator.
Result<void> prove_operator(const Context& context, OperatorId id, const OperatorProof& proof,
                            const SignInSource& source);
/// Ends the other sessions. `validation-failed` (password) for a weak password.
Result<store::OperatorRow> change_operator_password(const Context& context, OperatorId id,
                                                    const OperatorProof& proof, const Secret& next,
                                                    const SignInSource& source);
/// New recovery codes instead of the present ones; shown once. `conflict` without an authenticator.
Result<std::vector<Secret>> renew_recovery_codes(const Context& context, OperatorId id,
                                                 const OperatorProof& proof,
                                                 const SignInSource& source);

/// Whether the operator has to enrol an authenticator before anything else.
bool needs_otp(const store::OperatorRow& row);

struct EnrolledOperator {
  store::OperatorRow row;
  std::vector<Secret> recovery_codes;  // shown once
};
/// Sets the authenticator whose raw key gives `code` now, and ends the other sessions.
/// `validation-failed` when the code is wrong. The caller had the operator proved.
Result<EnrolledOperator> enrol_otp(const Context& context, OperatorId id, const Secret& key,
                                   const std::string& code, const SignInSource& source);

}  // namespace coffer::flows
