// The operator's means against a payment that is stuck: have it tried again now, or say how it
// ended.
#pragma once

#include <string>

#include "flows/context.h"
#include "store/payments/payments.h"

namespace coffer::flows {

/// Makes its next step due now: settlement, or the next question to its provider, asked as often as
/// at first. `not-found`; `conflict` when nothing is left to do about it.
Result<store::PaymentRecord> retry_payment(const Context& context, PaymentId id);

enum class Resolution {
  succeeded,  // the provider paid, or collected
  failed,     // it did not and will not; what was debited comes back at once
  refunded,   // it returned the debit, or the operator does in its place
};

/// The result of an off-ramp or on-ramp that an operator found, with operator and reason; both stay
/// with the payment, among the calls to its provider.
struct Finding {
  Resolution as = Resolution::failed;
  std::string who;
  std::string why;
};

/// Resolves an off-ramp or on-ramp instead of its provider. The provider is not asked, and what it
/// says afterwards changes nothing. `not-found`; `conflict` if the state of the payment does
/// not permit this result, or while a call to its provider is in progress, whose response would be
/// lost.
Result<store::PaymentRecord> resolve_payment(const Context& context, PaymentId id,
                                             const Finding& finding);

}  // namespace coffer::flows
