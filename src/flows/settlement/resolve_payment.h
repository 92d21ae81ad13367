// The operator's actions on a stuck payment: retry it now, or record its result.
#pragma once

#include <optional>
#include <string>

#include "flows/context.h"
#include "store/payments/payments.h"

namespace coffer::flows {

/// Makes the next step of the payment due now: settlement, or the next request to its provider.
/// Intervals between requests restart with the shortest. The provider of a payment in a final
/// status is queried once, which finds a contradiction that it did not report. `not-found`;
/// `conflict` if no step is left.
Result<store::PaymentRecord> retry_payment(const Context& context, PaymentId id);

enum class Resolution {
  succeeded,  // the provider paid, or collected; also after the payment has failed or expired
  failed,    // the provider did not and will not pay; a debited amount is credited back immediately
  refunded,  // the provider returned the money, or the operator returns it instead
  returned,  // the provider returned money that was never credited to its payer
  unchanged,  // the final status stands, although the provider contradicts it
};

}  // namespace coffer::flows

template <>
struct coffer::Terms<coffer::flows::Resolution> {
  static constexpr auto rows =
      std::to_array<Term>({{"succeeded"}, {"failed"}, {"refunded"}, {"returned"}, {"unchanged"}});
};

namespace coffer::flows {

/// The result of a payment through a provider, as the operator determined it. Operator and reason
/// are stored with the payment, among the calls to its provider.
struct ManualResult {
  Resolution as = Resolution::failed;
  std::string who;
  std::string why;
  /// To credit, in the connector's asset, when late or uncredited money is booked. Empty: the
  /// amount that follows from the price.
  std::optional<Amount> amount = std::nullopt;
  /// The refund of an on-ramp that this is about: the one that waits; or one that failed although
  /// its payer has the money, which is booked as `refunded`.
  std::optional<RefundId> refund = std::nullopt;
};

/// Records the result of a payment in place of its provider, without calling it. A final status is
/// corrected only after the provider has contradicted it, or if money that arrived was not
/// credited. `not-found`; `conflict` if the state of the payment does not permit this result, or
/// while a call to its provider is in progress, because its response would be lost.
Result<store::PaymentRecord> resolve_payment(const Context& context, PaymentId id,
                                             const ManualResult& result);

}  // namespace coffer::flows
