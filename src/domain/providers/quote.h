// Quotes: prices of off-ramps and on-ramps (docs/contract.md#quotes).
#pragma once

#include <optional>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "domain/providers/connector.h"

namespace coffer {

constexpr std::int64_t kQuoteLifetimeMs = 120'000;

/// The exact amounts of a quote. Off-ramp: total = send + fee, in the asset. On-ramp: total = send,
/// in the collection currency, including the fee.
struct Price {
  Amount send;
  Amount receive;
  Amount fee;
  Amount total;
  Rate rate;
};

/// The fee on `amount`, rounded up to `decimals` in the operator's favour. `amount-out-of-range` on
/// overflow.
Result<Amount> fee_on(const FeeRule& rule, Amount amount, int decimals);

/// A price at the connector's own rate. `fee`, if given, replaces the connector's fee. The received
/// amount is rounded down. `amount-out-of-range` if it would be zero or exceed int64.
Result<Price> price_exact_send(const ConnectorTerms& connector, Amount send,
                               const std::optional<FeeRule>& fee);
/// A price with the smallest send amount for which at least `receive` arrives.
Result<Price> price_exact_receive(const ConnectorTerms& connector, Amount receive,
                                  const std::optional<FeeRule>& fee);

/// What a provider was asked to price.
struct QuoteAsk {
  Amount amount;  // in the sending currency, or in the receiving one if `exact_receive`
  bool exact_receive = false;  // `amount` is the amount that must arrive
  std::optional<TransactionType> type;
};
/// The price in a provider's quote. Its rate was written with `rate_places` decimal places.
struct QuotedPrice {
  Amount send;
  Amount receive;
  Amount fee;  // the connector's own, in the sending currency
  Rate rate;
  int rate_places = 0;
};
/// The contradiction of a quote with the request, with itself or, if the operator set a tolerance,
/// with the connector's terms (docs/provider-protocol.md#data); empty for a consistent quote.
std::string quote_fault(const ConnectorTerms& terms, const QuoteAsk& ask, const QuotedPrice& quote);

/// The credited amount of an on-ramp for which the payer paid `collected` instead of `price.send`.
/// If that is enough, the quoted amount; otherwise the rest after the fee at the quote's rate,
/// rounded down to `decimals`, and at most the corresponding share of the quoted amount. Zero if
/// nothing is left.
Amount received_of(const Price& price, Amount collected, int decimals);

/// `amount-precision` or `amount-out-of-range` on `amount` if the connector does not accept it.
void check_quote_amount(const ConnectorTerms& connector, Amount send, ValidationErrors& errors);
/// Like check_quote_amount, for a request whose `amount` must arrive: the message has the limits in
/// the currency of `amount`, converted at the offered price.
void check_received_amount(const ConnectorTerms& connector, const Price& offered,
                           ValidationErrors& errors);

enum class QuoteStatus { open, used, expired };
template <>
struct Terms<QuoteStatus> {
  static constexpr auto rows = std::to_array<Term>({{"OPEN"}, {"USED"}, {"EXPIRED"}});
};
/// A used quote stays used; any other expires at `expires_at`.
QuoteStatus quote_status(bool used, Timestamp expires_at, Timestamp now);

/// Of a customer payment that arrives on a reference (docs/contract.md#references).
struct StoredAmount {
  Amount amount;
  bool cut = false;  // places beyond those that the ledger stores were cut off
};
/// A reported number as the ledger stores it; nullopt if it cannot, because the number is too
/// large, or has no digit in the places that are stored.
std::optional<StoredAmount> stored_amount(const std::string& text);

/// The price, or why the payment cannot be credited: then `price` has the amount and, if known, the
/// fee.
struct ArrivalPrice {
  Price price;
  std::optional<FailureCode> failure;
};
ArrivalPrice price_arrival(const ConnectorTerms& connector, const StoredAmount& stored,
                           std::string_view currency);

}  // namespace coffer
