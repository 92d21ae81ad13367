// What reaches coffer about payments without being asked: callbacks of providers, and decisions
// made in a provider's place.
#pragma once

#include <string>
#include <string_view>

#include "domain/identity/tenant.h"
#include "flows/context.h"
#include "store/payments/payments.h"
#include "store/providers/connectors.h"
#include "store/providers/provider_payments.h"

namespace coffer::flows {

/// A request as it came; the header values are nullptr when absent.
struct SignedCall {
  std::string_view method;
  std::string_view path;  // without the query
  std::string_view body;
  const std::string* timestamp = nullptr;
  const std::string* signature = nullptr;
};

/// The connector whose provider signed the call (docs/provider-protocol.md), at the endpoint whose
/// secret was used: the present one, or a retired one at which payments are in progress.
/// `not-found` for no such connector or one whose driver has no provider, `unauthorized` for
/// anything not signed by it.
Result<ConnectorTerms> verify_provider(const Context& context, ConnectorId id,
                                       const SignedCall& call);

/// A callback about a payment is a hint: coffer asks the provider immediately. It is ignored for a
/// payment that is not in progress with this connector.
Result<void> hurry_payment(const Context& context, const ConnectorTerms& connector, PaymentId id);

/// The same inside a command, for a payment with a provider's job: the answer its provider would
/// give. `failure` empty: paid, or collected. What was debited for a cash-out that failed comes
/// back at once.
void decide(const Context& context, store::WriteTx& tx, store::ProviderView& view,
            std::optional<FailureCode> failure);

/// Ends a payment in progress, as its provider would (docs/contract.md#sandbox; the operator's
/// means against a stuck one). `failure` empty: it succeeds. `not-found`, or `conflict` when it is
/// not in progress with a provider; deciding again what it already came to changes nothing.
Result<store::PaymentRecord> decide_payment(const Context& context, const Tenant& tenant,
                                            PaymentId id, std::optional<FailureCode> failure);

}  // namespace coffer::flows
