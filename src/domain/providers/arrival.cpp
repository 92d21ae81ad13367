#include "domain/providers/arrival.h"

namespace coffer {

std::optional<StoredAmount> stored_amount(const std::string& text) {
  ParsedAmount parsed = parse_amount(text, Amount::kScale, Exponent::accepted);
  const bool cut = parsed.fault == AmountFault::too_precise;
  if (cut) {
    const std::string kept = text.substr(0, text.find('.') + 1 + Amount::kScale);
    parsed = parse_amount(kept, Amount::kScale);
  }
  if (parsed.fault != AmountFault::none) return std::nullopt;
  return StoredAmount{parsed.amount, cut};
}

ArrivalPrice price_arrival(const ConnectorTerms& connector, const StoredAmount& stored,
                           std::string_view currency) {
  const Amount amount = stored.amount;
  ArrivalPrice out{.price = {.send = amount, .total = amount}, .failure = {}};
  if (currency != connector.currency) {
    out.failure = FailureCode::wrong_currency;
    return out;
  }
  if (const auto price = price_exact_send(connector, amount, std::nullopt)) {
    out.price = *price;
  } else {
    const auto fee = fee_on(connector.fee, amount, connector.send_decimals());
    out.price.fee = fee ? *fee : Amount();
    const bool fits = multiply(amount, connector.rate.value(), Rounding::down).has_value();
    out.failure = fits ? FailureCode::underpaid : FailureCode::ledger_limit_exceeded;
  }
  if (stored.cut || truncate_to(amount, connector.currency_decimals) != amount) {
    out.failure = FailureCode::amount_precision;
    out.price.receive = Amount();
  }
  return out;
}

}  // namespace coffer
