// Operators signing in with password and authenticator, and changing their own.
#pragma once

#include <string>

#include "flows/context.h"
#include "store/identity/operators.h"

namespace coffer::flows {

/// Uses the code up. `unauthorized`, the same for every cause. The code is not checked until an
/// authenticator is enrolled: see needs_otp. Slow on purpose: one at a time.
Result<store::OperatorRow> sign_in_operator(const Context& context, const std::string& name,
                                            const Secret& password, const std::string& code);
/// Whether the operator has to enrol an authenticator before anything else.
bool needs_otp(const store::OperatorRow& row);
/// Sets the authenticator whose raw key gives `code` now. `validation-failed` when it does not.
Result<store::OperatorRow> enrol_otp(const Context& context, OperatorId id, const Secret& key,
                                     const std::string& code);
/// `unauthorized` when `present` is not the password; ends the other sessions.
Result<store::OperatorRow> change_operator_password(const Context& context, OperatorId id,
                                                    const Secret& present, const Secret& next);

}  // namespace coffer::flows
