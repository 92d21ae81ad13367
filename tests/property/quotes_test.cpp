// Ten thousand random connectors, fees and amounts: properties of every price
// (docs/contract.md#quotes).
#include <catch2/catch.hpp>

#include "domain/providers/quote.h"
#include "property/seeds.h"
#include "property/steps.h"

using namespace coffer;
using namespace coffer::property;

namespace quotes_test {
namespace {

__extension__ typedef __int128 Wide;

constexpr std::int64_t kBudgetMs = 3'000;
constexpr int kQuotesPerSeed = 10'000;

/// Of every size: the number of digits is random, like the digits.
std::int64_t magnitude(Dice& dice, int digits_max) {
  std::int64_t bound = 1;
  for (std::int64_t digits = 1 + dice.roll(digits_max); digits > 0; --digits) bound *= 10;
  return 1 + dice.roll(bound);
}

Amount some_amount(Dice& dice, int decimals) {
  return truncate_to(Amount::from_units(magnitude(dice, 17) + step_of(decimals)), decimals);
}

FeeRule some_fee(Dice& dice, int decimals) {
  if (dice.one_in(4)) return {};
  return {dice.one_in(2) ? some_amount(dice, decimals) : Amount(),
          static_cast<int>(dice.roll(dice.one_in(4) ? 10'001 : 500))};
}

ConnectorTerms some_connector(Dice& dice) {
  ConnectorTerms terms;
  terms.direction = dice.one_in(2) ? Direction::off_ramp : Direction::on_ramp;
  terms.asset.decimals = static_cast<int>(dice.roll(8));
  terms.currency_decimals = static_cast<int>(dice.roll(8));
  terms.rate = Rate{magnitude(dice, 12), magnitude(dice, 9)};
  terms.fee = some_fee(dice, terms.send_decimals());
  const Amount a = some_amount(dice, terms.send_decimals());
  const Amount b = some_amount(dice, terms.send_decimals());
  terms.min_amount = std::min(a, b);
  terms.max_amount = std::max(a, b);
  return terms;
}

bool has_places(Amount amount, int decimals) { return truncate_to(amount, decimals) == amount; }

/// Properties that hold for every request.
void check_price(const ConnectorTerms& terms, const Price& price, const FeeRule& fee) {
  const bool off_ramp = terms.direction == Direction::off_ramp;
  CHECK(price.total.units() == price.send.units() + (off_ramp ? price.fee.units() : 0));
  CHECK(price.receive.is_positive());
  CHECK_FALSE(price.fee.is_negative());
  CHECK(has_places(price.receive, terms.receive_decimals()));
  CHECK(has_places(price.fee, terms.send_decimals()));
  // At most the amount that the rate yields, after an on-ramp's fee.
  const std::int64_t priced = price.send.units() - (off_ramp ? 0 : price.fee.units());
  CHECK(Wide{price.receive.units()} * terms.rate->denominator <=
        Wide{priced} * terms.rate->numerator);
  // And less than one place of the currency below it.
  const Wide short_by =
      Wide{priced} * terms.rate->numerator / terms.rate->denominator - price.receive.units();
  CHECK(short_by < step_of(terms.receive_decimals()));
  // The fee is at least that of its rule, and less than one place above it.
  const Wide exact = Wide{fee.fixed.units()} * 10'000 + Wide{price.send.units()} * fee.basis_points;
  CHECK(Wide{price.fee.units()} * 10'000 >= exact);
  CHECK(Wide{price.fee.units()} * 10'000 - exact <
        Wide{step_of(terms.send_decimals())} * 10'000 + 10'000);
}

void check_exact_receive(const ConnectorTerms& terms, const std::optional<FeeRule>& fee,
                         Amount wanted) {
  const auto price = price_exact_receive(terms, wanted, fee);
  if (!price) {
    CHECK(price.error().slug == Slug::amount_out_of_range);
    return;
  }
  check_price(terms, *price, fee.value_or(terms.fee));
  CHECK(price->receive >= wanted);
  CHECK(has_places(price->send, terms.send_decimals()));
  const Amount less = Amount::from_units(price->send.units() - step_of(terms.send_decimals()));
  if (!less.is_positive()) return;
  const auto cheaper = price_exact_send(terms, less, fee);
  CHECK((!cheaper || cheaper->receive < wanted));
}

/// Returns whether it could be quoted.
bool check_one(Dice& dice) {
  const ConnectorTerms terms = some_connector(dice);
  std::optional<FeeRule> fee;
  if (terms.direction == Direction::off_ramp && dice.one_in(2)) {
    fee = some_fee(dice, terms.send_decimals());
  }
  const Amount send = some_amount(dice, terms.send_decimals());
  ValidationErrors errors;
  check_quote_amount(terms, send, errors);
  CHECK(errors.empty() == (send >= terms.min_amount && send <= terms.max_amount));
  const auto price = price_exact_send(terms, send, fee);
  if (price) {
    CHECK(price->send == send);
    check_price(terms, *price, fee.value_or(terms.fee));
    check_exact_receive(terms, fee, price->receive);
  } else {
    CHECK(price.error().slug == Slug::amount_out_of_range);
  }
  check_exact_receive(terms, fee, some_amount(dice, terms.receive_decimals()));
  return price.has_value();
}

}  // namespace

TEST_CASE("prices are exact, never above the rate, and minimal for the requested amount") {
  for_each_seed("quotes", kBudgetMs, [](std::uint64_t seed) {
    Dice dice(seed);
    int quoted = 0;
    for (int i = 0; i < kQuotesPerSeed; ++i) {
      INFO("quote " << i);
      if (check_one(dice)) ++quoted;
    }
    CHECK(quoted > kQuotesPerSeed / 4);  // enough random cases are valid
  });
}

}  // namespace quotes_test
