// Quotes: what an off-ramp or an on-ramp costs (docs/contract.md#quotes).
#pragma once

#include <optional>

#include "base/clock.h"
#include "base/result.h"
#include "domain/providers/connector.h"

namespace coffer {

constexpr std::int64_t kQuoteLifetimeMs = 120'000;

/// Exact figures of one quote. Off-ramp: total = send + fee, in the asset. On-ramp: total = send,
/// in the collection currency, and the fee is part of it.
struct Price {
  Amount send;
  Amount receive;
  Amount fee;
  Amount total;
  Rate rate;
};

/// The fee on `amount`, rounded up to `decimals`: in the operator's favour.
/// `amount-out-of-range` when it overflows.
Result<Amount> fee_on(const FeeRule& rule, Amount amount, int decimals);

/// Prices by the connector's own rate. `fee` replaces the connector's when given (an exact fee
/// row). The received amount is rounded down. `amount-out-of-range` when nothing would arrive, or
/// beyond int64.
Result<Price> price_exact_send(const ConnectorTerms& connector, Amount send,
                               const std::optional<FeeRule>& fee);
/// The smallest send amount of which at least `receive` arrives.
Result<Price> price_exact_receive(const ConnectorTerms& connector, Amount receive,
                                  const std::optional<FeeRule>& fee);

/// What a collection credits of which `collected` was paid instead of `price.send`: the quoted
/// amount when it is enough; else what is left after the fee gives at the rate of the quote,
/// rounded down to `decimals`, and never more than its share of the quoted amount. Zero when
/// nothing is left.
Amount received_of(const Price& price, Amount collected, int decimals);

/// `amount-precision` or `amount-out-of-range` on `amount` when the connector does not take it.
void check_quote_amount(const ConnectorTerms& connector, Amount send, ValidationErrors& errors);

enum class QuoteStatus { open, used, expired };
/// A quote that was used stays used; any other expires at the instant `expires_at`.
QuoteStatus quote_status(bool used, Timestamp expires_at, Timestamp now);
std::string_view name(QuoteStatus status);  // OPEN, USED, EXPIRED

}  // namespace coffer
