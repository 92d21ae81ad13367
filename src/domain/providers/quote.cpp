#include "domain/providers/quote.h"

#include <algorithm>
#include <limits>

namespace coffer {
namespace {

constexpr int kBasisPointsPerWhole = 10'000;

std::int64_t step_of(int decimals) {
  std::int64_t step = 1;
  for (int i = decimals; i < Amount::kScale; ++i) step *= 10;
  return step;
}

Problem out_of_range(std::string message) {
  return Problem(Slug::amount_out_of_range, "The amount cannot be quoted.",
                 {{"amount", std::move(message)}});
}

Result<Amount> round_up_to(Amount amount, int decimals) {
  const Amount cut = truncate_to(amount, decimals);
  if (cut == amount) return amount;
  return cut.add(Amount::from_units(step_of(decimals)));
}

const FeeRule& rule_of(const ConnectorTerms& connector, const std::optional<FeeRule>& fee) {
  return fee ? *fee : connector.fee;
}

/// The amount received for `send`, after the fee of an on-ramp.
Result<Amount> received(const ConnectorTerms& connector, Amount send, Amount fee) {
  const Amount priced = connector.direction == Direction::on_ramp
                            ? Amount::from_units(send.units() - fee.units())
                            : send;
  if (!priced.is_positive()) return Amount();
  COFFER_TRY(const Amount exact, multiply(priced, connector.rate.value(), Rounding::down));
  return truncate_to(exact, connector.receive_decimals());
}

/// Whether `send` is enough to receive `receive`. Monotonic in `send`, because one step more
/// increases the fee by at most one step. Amounts beyond int64 are always enough.
bool is_enough(const ConnectorTerms& connector, Amount send, Amount receive, const FeeRule& rule) {
  const auto fee = fee_on(rule, send, connector.send_decimals());
  if (!fee) return connector.direction == Direction::off_ramp;
  const auto arrives = received(connector, send, *fee);
  return !arrives || *arrives >= receive;
}

bool is_within_limits(const ConnectorTerms& connector, Amount send) {
  return connector.min_amount <= send && send <= connector.max_amount;
}

void add_range(Amount least, Amount most, int decimals, std::string_view code,
               ValidationErrors& errors) {
  errors.add(Slug::amount_out_of_range, "amount",
             "must be from " + least.to_string(decimals) + " to " + most.to_string(decimals) + " " +
                 std::string(code));
}

bool has_places(Amount amount, int decimals) { return truncate_to(amount, decimals) == amount; }

/// How far the received amount may differ from the converted one: by one unit of its last place. If
/// the provider computed the sent amount, also by the value of its second decimal place, to which
/// providers commonly round.
Amount rounding_slack(const ConnectorTerms& terms, const QuoteAsk& ask, Rate rate) {
  constexpr int kCents = 2;
  const Amount unit = Amount::from_units(step_of(terms.receive_decimals()));
  if (!ask.exact_receive) return unit;
  const Amount cent = Amount::from_units(step_of(std::min(terms.send_decimals(), kCents)));
  const auto value = multiply(cent, rate, Rounding::up);
  const auto slack = value ? value->add(unit) : value;
  return slack ? *slack : unit;
}

Amount apart(Amount one, Amount other) { return one < other ? other - one : one - other; }

Amount share_of(Amount amount, int basis_points) {
  if (basis_points == 0) return Amount();
  return multiply(amount, {basis_points, kBasisPointsPerWhole}, Rounding::down).value();
}

/// Whether the amounts are near those that the rate gives. A provider that writes its rate with few
/// decimal places has a rate near the connector's, but amounts that are not.
bool is_near_price(const ConnectorTerms& terms, const QuotedPrice& quote, Amount converted,
                   Amount slack) {
  const auto own = multiply(converted, *terms.rate, Rounding::down);
  if (!own) return false;
  const auto margin = share_of(*own, *terms.tolerance_bps).add(slack);
  return !margin || apart(quote.receive, *own) <= *margin;
}

/// Why the quote is not near the price that the connector's terms give. `converted`: the amount to
/// which the rate applies.
std::string tolerance_fault(const ConnectorTerms& terms, const QuotedPrice& quote, Amount converted,
                            Amount slack) {
  const int tolerance = *terms.tolerance_bps;
  const std::string limit =
      " by more than the tolerance of " + std::to_string(tolerance) + " basis points";
  if (!is_near(quote.rate, *terms.rate, tolerance)) {
    return "`rate` differs from the connector's rate of " + terms.rate->to_string() + limit;
  }
  if (!is_near_price(terms, quote, converted, slack)) {
    return "`receiveAmount` differs from the amount at the connector's rate" + limit;
  }
  const auto own = fee_on(terms.fee, quote.send, terms.send_decimals());
  const Amount margin = share_of(quote.send, tolerance);
  if (own && apart(quote.fee, *own) <= margin) return {};
  return "`fee` differs from the connector's fee" + limit + " of the amount";
}

}  // namespace

Result<Amount> fee_on(const FeeRule& rule, Amount amount, int decimals) {
  Amount fee = rule.fixed;
  if (rule.basis_points > 0) {
    COFFER_TRY(const Amount share,
               multiply(amount, {rule.basis_points, kBasisPointsPerWhole}, Rounding::up));
    COFFER_TRY(fee, fee.add(share));
  }
  return round_up_to(fee, decimals);
}

Result<Price> price_exact_send(const ConnectorTerms& connector, Amount send,
                               const std::optional<FeeRule>& fee) {
  Price price{.send = send, .rate = connector.rate.value()};
  COFFER_TRY(price.fee, fee_on(rule_of(connector, fee), send, connector.send_decimals()));
  COFFER_TRY(price.receive, received(connector, send, price.fee));
  if (!price.receive.is_positive()) {
    return unexpected(out_of_range("is too small: the recipient would receive nothing"));
  }
  price.total = send;
  if (connector.direction == Direction::off_ramp) {
    COFFER_TRY(price.total, send.add(price.fee));
  }
  return price;
}

Result<Price> price_exact_receive(const ConnectorTerms& connector, Amount receive,
                                  const std::optional<FeeRule>& fee) {
  const FeeRule& rule = rule_of(connector, fee);
  const std::int64_t step = step_of(connector.send_decimals());
  // In units of the smallest amount that can be sent: all values up to `low` are too small.
  std::int64_t low = 0;
  std::int64_t high = std::numeric_limits<std::int64_t>::max() / step;
  if (!is_enough(connector, Amount::from_units(high * step), receive, rule)) {
    return unexpected(out_of_range("exceeds the largest amount that the recipient can receive"));
  }
  while (high - low > 1) {
    const std::int64_t middle = low + (high - low) / 2;
    const bool enough = is_enough(connector, Amount::from_units(middle * step), receive, rule);
    (enough ? high : low) = middle;
  }
  return price_exact_send(connector, Amount::from_units(high * step), fee);
}

std::string quote_fault(const ConnectorTerms& terms, const QuoteAsk& ask,
                        const QuotedPrice& quote) {
  const bool off_ramp = terms.direction == Direction::off_ramp;
  const bool sound = quote.send.is_positive() && quote.receive.is_positive() &&
                     !quote.fee.is_negative() && quote.rate.numerator > 0 &&
                     quote.rate.denominator > 0 && has_places(quote.send, terms.send_decimals()) &&
                     has_places(quote.fee, terms.send_decimals()) &&
                     has_places(quote.receive, terms.receive_decimals());
  if (!sound) return "an amount or the rate is not valid";
  const Amount slack = rounding_slack(terms, ask, quote.rate);
  const bool as_asked = ask.exact_receive
                            ? quote.receive >= ask.amount && quote.receive - ask.amount <= slack
                            : quote.send == ask.amount;
  if (!as_asked) return "the quote is for a different amount";
  if (!off_ramp && quote.fee >= quote.send) return "`fee` is not less than `sendAmount`";
  // An off-ramp's fee is charged on top of the sent amount.
  const Amount converted = off_ramp ? quote.send : quote.send - quote.fee;
  if (!converts(converted, quote.receive, quote.rate, quote.rate_places, slack)) {
    return "`receiveAmount` " + quote.receive.to_string(terms.receive_decimals()) +
           " contradicts `rate` " + quote.rate.to_string() + " for " +
           converted.to_string(terms.send_decimals()) +
           (off_ramp ? " of `sendAmount`" : ", `sendAmount` less `fee`");
  }
  if (terms.tolerance_bps) return tolerance_fault(terms, quote, converted, slack);
  // Only an operator's terms may have a fee that exceeds the amount.
  return terms.calls_out() && quote.fee > quote.send ? "`fee` exceeds `sendAmount`" : "";
}

Amount received_of(const Price& price, Amount collected, int decimals) {
  if (collected >= price.send) return price.receive;
  if (collected <= price.fee) return Amount();
  const Amount left = collected - price.fee;
  const Amount of = price.send - price.fee;
  const auto by_rate = multiply(left, price.rate, Rounding::down);
  // Rounding the share up leaves a rate that matches the quote's amounts unchanged, but limits a
  // rate that contradicts them.
  const Amount share = multiply(price.receive, {left.units(), of.units()}, Rounding::up).value();
  const auto bound = round_up_to(share, decimals);
  Amount out = price.receive;
  if (by_rate) out = std::min(out, *by_rate);
  if (bound) out = std::min(out, *bound);
  return truncate_to(out, decimals);
}

void check_quote_amount(const ConnectorTerms& connector, Amount send, ValidationErrors& errors) {
  const int decimals = connector.send_decimals();
  const std::string code(connector.send_code());
  if (truncate_to(send, decimals) != send) {
    errors.add(Slug::amount_precision, "amount", decimals_rule(code, decimals));
  }
  if (is_within_limits(connector, send)) return;
  add_range(connector.min_amount, connector.max_amount, decimals, code, errors);
}

void check_received_amount(const ConnectorTerms& connector, const Price& offered,
                           ValidationErrors& errors) {
  if (is_within_limits(connector, offered.send)) return;
  ConnectorTerms terms = connector;
  terms.rate = offered.rate;
  // A provider states only the fee of this amount.
  if (terms.calls_out()) terms.fee = {offered.fee, 0};
  const auto arrives = [&](Amount send) {
    const auto fee = fee_on(terms.fee, send, terms.send_decimals());
    const auto amount = fee ? received(terms, send, *fee) : fee;
    return amount ? *amount : Amount::from_units(std::numeric_limits<std::int64_t>::max());
  };
  Amount least = arrives(connector.min_amount);
  // Because of rounding, less than the minimum may be enough for the same amount.
  const auto cheapest = least.is_positive() ? price_exact_receive(terms, least, std::nullopt)
                                            : Result<Price>(Price{});
  if (cheapest && cheapest->send < connector.min_amount) {
    least = least + Amount::from_units(step_of(terms.receive_decimals()));
  }
  add_range(least, arrives(connector.max_amount), terms.receive_decimals(), terms.receive_code(),
            errors);
}

QuoteStatus quote_status(bool used, Timestamp expires_at, Timestamp now) {
  if (used) return QuoteStatus::used;
  return now < expires_at ? QuoteStatus::open : QuoteStatus::expired;
}

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
