// Amounts and times parsed from text, compared with a model that calculates with decimal digits.
#include <algorithm>
#include <catch2/catch.hpp>
#include <limits>
#include <string>

#include "base/clock.h"
#include "domain/ledger/money.h"
#include "property/seeds.h"

using namespace coffer;
using namespace coffer::property;

namespace decimals_test {
namespace {

constexpr std::int64_t kBudgetMs = 2'000;
constexpr int kTextsPerSeed = 500;

/// A decimal written out without exponent: digits before and after the point.
struct Written {
  bool negative = false;
  std::string whole;
  std::string places;
};

std::string some_digits(Dice& dice, std::int64_t most) {
  std::string out;
  for (std::int64_t n = dice.roll(most + 1); n > 0; --n) {
    out += static_cast<char>('0' + (dice.one_in(3) ? 0 : dice.roll(10)));
  }
  return out;
}

/// A JSON number and the same number written out.
std::pair<std::string, Written> some_number(Dice& dice) {
  Written written;
  written.negative = dice.one_in(10);
  std::string whole = some_digits(dice, 13);
  whole.erase(0, std::min(whole.find_first_not_of('0'), whole.size()));
  if (whole.empty()) whole = "0";
  const std::string places = some_digits(dice, 9);
  const bool scientific = dice.one_in(3);
  const std::int64_t exponent = scientific ? dice.roll(25) - 12 : 0;
  std::string text = (written.negative ? "-" : "") + whole + (places.empty() ? "" : "." + places);
  if (scientific) {
    text += (dice.one_in(2) ? "e" : "E") + std::string(exponent >= 0 && dice.one_in(2) ? "+" : "") +
            std::to_string(exponent);
  }
  std::string digits = whole + places;
  std::int64_t point = static_cast<std::int64_t>(whole.size()) + exponent;
  for (; point < 0; ++point) digits.insert(0, 1, '0');
  while (point > static_cast<std::int64_t>(digits.size())) digits += '0';
  written.whole = digits.substr(0, static_cast<std::size_t>(point));
  written.places = digits.substr(static_cast<std::size_t>(point));
  return {text, written};
}

/// The expected result of parse_amount, determined by comparing texts only.
ParsedAmount expected(const Written& written, int decimals) {
  std::string places = written.places;
  while (places.ends_with('0')) places.pop_back();
  std::string whole = written.whole;
  whole.erase(0, std::min(whole.find_first_not_of('0'), whole.size()));
  if (written.negative || (whole.empty() && places.empty())) return {{}, AmountFault::out_of_range};
  if (places.size() > static_cast<std::size_t>(decimals)) return {{}, AmountFault::too_precise};
  places.resize(7, '0');
  std::string units = whole + places;
  units.erase(0, units.find_first_not_of('0'));
  const std::string most = std::to_string(std::numeric_limits<std::int64_t>::max());
  if (units.size() > most.size() || (units.size() == most.size() && units > most)) {
    return {{}, AmountFault::out_of_range};
  }
  return {Amount::from_units(std::stoll(units)), AmountFault::none};
}

}  // namespace

TEST_CASE("property: amounts equal their digits") {
  for_each_seed("amounts", kBudgetMs, [](std::uint64_t seed) {
    Dice dice(seed);
    for (int i = 0; i < kTextsPerSeed; ++i) {
      const auto [text, written] = some_number(dice);
      const int decimals = static_cast<int>(dice.roll(8));
      const ParsedAmount wanted = expected(written, decimals);
      const ParsedAmount got = parse_amount(text, decimals, Exponent::accepted);
      INFO("'" << text << "' with " << decimals << " decimals");
      if (got.fault != wanted.fault || got.amount != wanted.amount) FAIL("read wrongly");
      if (got.fault == AmountFault::none &&
          parse_amount(got.amount.to_string(decimals), decimals).amount != got.amount) {
        FAIL("shown as " << got.amount.to_string(decimals));
      }
    }
  });
}

TEST_CASE("property: rates survive a round trip as text, and converting back never gains") {
  for_each_seed("rates", kBudgetMs, [](std::uint64_t seed) {
    Dice dice(seed);
    for (int i = 0; i < kTextsPerSeed; ++i) {
      const std::string text =
          std::to_string(dice.roll(100'000)) + "." + std::to_string(1 + dice.roll(999'999'999));
      const auto rate = Rate::parse(text);
      INFO(text);
      if (!rate || Rate::parse(rate->to_string())->to_string() != rate->to_string())
        FAIL("changed");
      const Amount amount = Amount::from_units(1 + dice.roll(1'000'000'000'000));
      const Amount there = multiply(amount, *rate, Rounding::down).value();
      const Rate inverse{rate->denominator, rate->numerator};
      if (multiply(there, inverse, Rounding::down).value() > amount) FAIL("gained going down");
      const Amount more = multiply(amount, *rate, Rounding::up).value();
      if (multiply(more, inverse, Rounding::up).value() < amount) FAIL("lost going up");
      if (more < there || more.units() - there.units() > 1) FAIL("rounds by more than one unit");
    }
  });
}

TEST_CASE("property: times survive a round trip as text, in order") {
  for_each_seed("times", kBudgetMs, [](std::uint64_t seed) {
    Dice dice(seed);
    constexpr std::int64_t kYear9999 = 253'402'300'799'999;
    for (int i = 0; i < kTextsPerSeed; ++i) {
      const Timestamp a{dice.roll(kYear9999)};
      const Timestamp b{std::min(kYear9999, a.ms + dice.roll(100'000))};
      INFO(a.ms);
      if (Timestamp::parse(a.to_string()) != a) FAIL("came back as another time");
      if ((a < b) != (a.to_string() < b.to_string())) FAIL("the order of the texts is another");
    }
  });
}

}  // namespace decimals_test
