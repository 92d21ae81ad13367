// The operator's actions on a stuck payment: retry it now, or record its result.
#pragma once

#include <string>

#include "flows/context.h"
#include "store/payments/payments.h"

namespace coffer::flows {

/// Makes the next step of the payment due now: settlement, or the next request to its provider.
/// Intervals between requests restart with the shortest. `not-found`; `conflict` if no step is
/// left.
Result<store::PaymentRecord> retry_payment(const Context& context, PaymentId id);

enum class Resolution {
  succeeded,  // the provider paid, or collected
  failed,    // the provider did not and will not pay; a debited amount is credited back immediately
  refunded,  // the provider returned the debited amount, or the operator returns it instead
};

}  // namespace coffer::flows

template <>
struct coffer::Terms<coffer::flows::Resolution> {
  static constexpr auto rows = std::to_array<Term>({{"succeeded"}, {"failed"}, {"refunded"}});
};

namespace coffer::flows {

/// The result of an off-ramp or on-ramp, as the operator determined it. Operator and reason are
/// stored with the payment, among the calls to its provider.
struct ManualResult {
  Resolution as = Resolution::failed;
  std::string who;
  std::string why;
};

/// Records the result of an off-ramp or on-ramp in place of its provider. coffer does not call the
/// provider, and ignores its later updates. `not-found`; `conflict` if the state of the payment
/// does not permit this result, or while a call to its provider is in progress, because its
/// response would be lost.
Result<store::PaymentRecord> resolve_payment(const Context& context, PaymentId id,
                                             const ManualResult& result);

}  // namespace coffer::flows
