// Quotes for off-ramps and on-ramps (docs/contract.md#quotes).
#pragma once

#include <optional>

#include "domain/identity/tenant.h"
#include "flows/context.h"
#include "store/payments/quotes.h"

namespace coffer::flows {

struct QuoteRequest {
  Amount amount;  // in the sending currency, or in the receiving one if `exact_receive`
  bool exact_receive = false;  // `amount` is the amount that must arrive
  ConnectorId connector;
  std::optional<Direction> direction;  // required direction of the connector; empty: any
  // An off-ramp has at most one of `beneficiary` and `type`. Without both, the type with which the
  // association pays consumers applies. On-ramps have no beneficiary.
  std::optional<BeneficiaryId> beneficiary;
  std::optional<TransactionType> type;
  std::optional<DestinationId> destination;  // only with a beneficiary
};

struct Quoted {
  store::QuoteRow quote;
  ConnectorTerms connector;  // its secret stays sealed
};

/// Calls the connector and stores the quote. All invalid fields are reported together: `not-found`
/// (connector, beneficiary, destination), `validation-failed`, `amount-precision`,
/// `amount-out-of-range`, `conflict` (paused). Failures of the provider: `provider-error`,
/// `provider-unavailable`, `provider-timeout`.
Result<Quoted> make_quote(const Context& context, const Tenant& tenant,
                          const QuoteRequest& request);

/// `not-found`.
Result<Quoted> find_quote(const Context& context, const Tenant& tenant, QuoteId id);

/// Expires an open quote now. `not-found`, `quote-already-used`, `quote-expired`.
Result<Quoted> expire_quote(const Context& context, const Tenant& tenant, QuoteId id);

/// Whether payments through this connector can go to this destination.
bool fits(const ConnectorTerms& connector, const store::QuoteDestination& destination);

}  // namespace coffer::flows
