// Callbacks of providers about payments, and decisions made in place of a provider.
#pragma once

#include <string>
#include <string_view>

#include "domain/identity/tenant.h"
#include "flows/context.h"
#include "store/payments/payments.h"
#include "store/providers/connectors.h"
#include "store/providers/provider_payments.h"

namespace coffer::http {
class JsonValue;
}

namespace coffer::flows {

/// A request as received; header values are nullptr if absent.
struct SignedCall {
  std::string_view method;
  std::string_view path;  // without the query
  std::string_view body;
  const std::string* timestamp = nullptr;
  const std::string* signature = nullptr;
};

/// The connector whose provider signed the call (docs/provider-protocol.md), at the endpoint whose
/// secret was used: the current one, or a retired one with payments in progress. `not-found` for an
/// unknown connector or one without a provider; `unauthorized` for an invalid signature.
Result<ConnectorTerms> verify_provider(const Context& context, ConnectorId id,
                                       const SignedCall& call);

/// Handles a callback about a payment as a hint: coffer queries the provider immediately. About a
/// payment in a final status, it does so once, and only if `data`, the payout or collection as the
/// provider reports it, contradicts the status. A callback about any other payment is ignored.
Result<void> hear_update(const Context& context, const ConnectorTerms& connector, PaymentId id,
                         const http::JsonValue& data);

/// Handles a callback about a refund that waits as a hint. One that contradicts the result of a
/// refund that has ended is left to an operator.
Result<void> hear_refund(const Context& context, const ConnectorTerms& connector, RefundId id,
                         const http::JsonValue& data);

/// Applies a provider's result inside a command, to a payment with a provider job. Without
/// `failure`, the payment was paid or collected; or refunded, while an on-ramp is refunded. The
/// debited amount of a failed off-ramp is credited back immediately.
void decide(const Context& context, store::WriteTx& tx, store::ProviderView& view,
            std::optional<FailureCode> failure);

/// Ends a payment in progress in place of its provider (docs/contract.md#sandbox, and for stuck
/// payments). Without `failure`, it succeeds. `not-found`, or `conflict` if it is not in progress
/// with a provider. Repeating the same decision changes nothing.
Result<store::PaymentRecord> decide_payment(const Context& context, const Tenant& tenant,
                                            PaymentId id, std::optional<FailureCode> failure);

}  // namespace coffer::flows
