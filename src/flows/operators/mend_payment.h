// The operator's means against a payment that is stuck: have it tried again now, or say how it
// ended.
#pragma once

#include <string>

#include "flows/context.h"
#include "store/payments.h"

namespace coffer::flows {

/// Makes its next step due now: settlement, or the next question to its provider, asked as often as
/// at first. `not-found`; `conflict` when nothing is left to do about it.
Result<store::PaymentRecord> retry_payment(const Context& context, PaymentId id);

enum class Resolution {
  succeeded,  // the provider paid, or collected
  failed,     // it did not and will not; what was debited comes back at once
  refunded,   // it gave back what was debited, or the house does in its place
};

/// What the operator found out about a cash-out or collection, with who says so and why; both stay
/// with the payment, among the calls to its provider.
struct Finding {
  Resolution as = Resolution::failed;
  std::string who;
  std::string why;
};

/// Ends a cash-out or collection in its provider's place. The provider is not asked, and what it
/// says afterwards changes nothing. `not-found`; `conflict` when this is no end the payment can
/// come to from where it stands, or while a call to its provider is under way, whose answer would
/// be lost.
Result<store::PaymentRecord> resolve_payment(const Context& context, PaymentId id,
                                             const Finding& finding);

}  // namespace coffer::flows
