// Pricing an off-ramp or an on-ramp (docs/contract.md#quotes).
#pragma once

#include <optional>

#include "domain/identity/tenant.h"
#include "domain/payments/quote.h"
#include "flows/context.h"
#include "store/payments/quotes.h"

namespace coffer::flows {

struct QuoteRequest {
  Amount amount;               // in the sending currency, or the receiving one
  bool exact_receive = false;  // `amount` is what has to arrive
  ConnectorId connector;
  std::optional<Direction> direction;  // that the connector must have; empty: whichever it has
  // Of an off-ramp: at most one of the two. Without either it is what the association pays
  // consumers by. On-ramps have no beneficiary.
  std::optional<BeneficiaryId> beneficiary;
  std::optional<TransactionType> type;
  std::optional<DestinationId> destination;  // only with a beneficiary
};

struct Quoted {
  store::QuoteRow quote;
  ConnectorTerms connector;  // its secret stays sealed
};

/// Asks the connector and stores the answer. All invalid fields are reported together: `not-found`
/// (connector, beneficiary, destination), `validation-failed`, `amount-precision`,
/// `amount-out-of-range`, `conflict` (paused). ValidationErrors of the provider: `provider-error`,
/// `provider-unavailable`, `provider-timeout`.
Result<Quoted> make_quote(const Context& context, const Tenant& tenant,
                          const QuoteRequest& request);

/// `not-found`.
Result<Quoted> find_quote(const Context& context, const Tenant& tenant, QuoteId id);

/// Lets an open quote expire now. `not-found`, `quote-already-used`, `quote-expired`.
Result<Quoted> expire_quote(const Context& context, const Tenant& tenant, QuoteId id);

/// Whether payments by this connector can go to this destination.
bool fits(const ConnectorTerms& connector, const store::QuoteDestination& destination);

}  // namespace coffer::flows
