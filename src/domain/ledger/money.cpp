#include "domain/ledger/money.h"

#include <algorithm>
#include <limits>

#include "base/text/ascii.h"

namespace coffer {
namespace {

__extension__ typedef __int128 Wide;  // a GNU extension, the only 128-bit type

constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();

std::int64_t power_of_ten(int exponent) {
  std::int64_t value = 1;
  for (int i = 0; i < exponent; ++i) value *= 10;
  return value;
}

/// A decimal as significant digits and the exponent of the last one: 12.50 is {"125", -1}.
struct Decimal {
  std::string digits;  // no leading or trailing zeros; empty for zero
  std::int64_t exponent = 0;
  bool negative = false;
};

std::size_t count_digits(std::string_view text, std::size_t at) {
  std::size_t end = at;
  while (end < text.size() && ascii::is_digit(text[end])) ++end;
  return end - at;
}

/// The exponent part "e-7"; false if malformed. Limits the exponent, because no valid one exceeds a
/// million.
bool read_exponent(std::string_view text, std::int64_t& exponent) {
  if (text.empty()) return true;
  if (text[0] != 'e' && text[0] != 'E') return false;
  text.remove_prefix(1);
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.remove_prefix(1);
  if (text.empty() || count_digits(text, 0) != text.size()) return false;
  std::int64_t value = 0;
  for (const char c : text) value = std::min<std::int64_t>(value * 10 + (c - '0'), 1'000'000);
  exponent += negative ? -value : value;
  return true;
}

/// The grammar of JSON numbers (RFC 8259 section 6), also used for decimal strings.
std::optional<Decimal> read_decimal(std::string_view text) {
  Decimal out;
  if (text.starts_with('-')) {
    out.negative = true;
    text.remove_prefix(1);
  }
  const std::size_t whole = count_digits(text, 0);
  if (whole == 0 || (whole > 1 && text[0] == '0')) return std::nullopt;
  out.digits = text.substr(0, whole);
  std::size_t at = whole;
  if (at < text.size() && text[at] == '.') {
    const std::size_t places = count_digits(text, at + 1);
    if (places == 0) return std::nullopt;
    out.digits += text.substr(at + 1, places);
    out.exponent = -static_cast<std::int64_t>(places);
    at += 1 + places;
  }
  if (!read_exponent(text.substr(at), out.exponent)) return std::nullopt;
  while (out.digits.ends_with('0')) {
    out.digits.pop_back();
    ++out.exponent;
  }
  out.digits.erase(0, std::min(out.digits.find_first_not_of('0'), out.digits.size()));
  return out;
}

/// digits x 10^exponent as an integer; nullopt beyond int64.
std::optional<std::int64_t> to_integer(const std::string& digits, std::int64_t exponent) {
  if (exponent < 0 || static_cast<std::int64_t>(digits.size()) + exponent > 19) return std::nullopt;
  Wide value = 0;
  for (const char c : digits) value = value * 10 + (c - '0');
  value *= power_of_ten(static_cast<int>(std::min<std::int64_t>(exponent, 18)));
  if (value > kMax) return std::nullopt;
  return static_cast<std::int64_t>(value);
}

}  // namespace

Result<Amount> Amount::add(Amount other) const {
  std::int64_t sum = 0;
  if (__builtin_add_overflow(units_, other.units_, &sum)) {
    return unexpected(Slug::amount_out_of_range, "The sum exceeds the largest amount.");
  }
  return Amount(sum);
}

Result<Amount> Amount::sub(Amount other) const {
  std::int64_t difference = 0;
  if (__builtin_sub_overflow(units_, other.units_, &difference)) {
    return unexpected(Slug::amount_out_of_range, "The difference exceeds the largest amount.");
  }
  return Amount(difference);
}

Amount operator+(Amount a, Amount b) { return a.add(b).value(); }
Amount operator-(Amount a, Amount b) { return a.sub(b).value(); }
Amount operator-(Amount a) { return Amount().sub(a).value(); }

std::string Amount::to_string(int decimals) const {
  const bool negative = units_ < 0;
  // Unsigned, so that the most negative value has a magnitude.
  const std::uint64_t magnitude =
      negative ? 0 - static_cast<std::uint64_t>(units_) : static_cast<std::uint64_t>(units_);
  const auto per_whole = static_cast<std::uint64_t>(kUnitsPerWhole);
  std::string text = negative ? "-" : "";
  text += std::to_string(magnitude / per_whole);
  std::uint64_t rest = magnitude % per_whole;
  int places = kScale;
  for (const int shown_min = std::min(decimals, 2); places > shown_min && rest % 10 == 0;
       --places) {
    rest /= 10;
  }
  if (places == 0) return text;
  const std::string digits = std::to_string(rest);
  text += '.';
  text.append(static_cast<std::size_t>(places) - digits.size(), '0');
  return text += digits;
}

ParsedAmount parse_amount(std::string_view text, int decimals, Exponent exponent) {
  const auto decimal = read_decimal(text);
  const bool is_accepted =
      exponent == Exponent::accepted || text.find_first_of("eE") == std::string_view::npos;
  if (!decimal || !is_accepted) return {Amount(), AmountFault::not_a_number};
  if (decimal->digits.empty() || decimal->negative) return {Amount(), AmountFault::out_of_range};
  if (decimal->exponent < -decimals) {
    // Takes precedence over an amount that is also too large.
    return {Amount(), AmountFault::too_precise};
  }
  const auto units = to_integer(decimal->digits, decimal->exponent + Amount::kScale);
  if (!units) return {Amount(), AmountFault::out_of_range};
  return {Amount::from_units(*units), AmountFault::none};
}

ParsedAmount parse_fee(std::string_view text, int decimals) {
  const auto decimal = read_decimal(text);
  const bool is_zero = decimal && decimal->digits.empty() && !decimal->negative;
  return is_zero ? ParsedAmount{} : parse_amount(text, decimals);
}

std::optional<AssetCode> AssetCode::parse(std::string_view text) {
  if (text.empty() || text.size() > 12) return std::nullopt;
  if (!std::ranges::all_of(text, ascii::is_letter_or_digit)) return std::nullopt;
  AssetCode code;
  code.value_ = text;
  return code;
}

std::optional<Rate> Rate::parse(std::string_view text) {
  const auto decimal = read_decimal(text);
  if (!decimal || decimal->negative || decimal->digits.empty() || decimal->exponent < -9) {
    return std::nullopt;
  }
  const int places = static_cast<int>(std::max<std::int64_t>(0, -decimal->exponent));
  const auto numerator = to_integer(decimal->digits, decimal->exponent + places);
  if (!numerator) return std::nullopt;
  return Rate{*numerator, power_of_ten(places)};
}

std::string Rate::to_string() const {
  constexpr std::int64_t kNano = 1'000'000'000;
  const Wide scaled = static_cast<Wide>(numerator) * kNano / denominator;
  std::string text = std::to_string(static_cast<std::int64_t>(scaled / kNano));
  std::string places = std::to_string(static_cast<std::int64_t>(scaled % kNano));
  places.insert(0, 9 - places.size(), '0');
  while (!places.empty() && places.back() == '0') places.pop_back();
  return places.empty() ? text : text + "." + places;
}

Result<Amount> multiply(Amount amount, Rate rate, Rounding rounding) {
  COFFER_CHECK(!amount.is_negative() && rate.numerator > 0 && rate.denominator > 0);
  const Wide product = static_cast<Wide>(amount.units()) * rate.numerator;
  Wide quotient = product / rate.denominator;
  if (rounding == Rounding::up && product % rate.denominator != 0) ++quotient;
  if (quotient > kMax) {
    return unexpected(Slug::amount_out_of_range,
                      "The converted amount exceeds the largest amount.");
  }
  return Amount::from_units(static_cast<std::int64_t>(quotient));
}

bool converts(Amount from, Amount to, Rate rate, int rate_places, Amount slack) {
  // |to - from x rate| <= from / (2 x 10^places) + slack, multiplied by the denominators. An
  // overflow on the left exceeds every possible right side.
  const Wide double_unit = Wide{2} * power_of_ten(rate_places);
  Wide difference = Wide{to.units()} * rate.denominator - Wide{from.units()} * rate.numerator;
  if (difference < 0) difference = -difference;
  if (__builtin_mul_overflow(difference, double_unit, &difference)) return false;
  return difference <= (from.units() + slack.units() * double_unit) * rate.denominator;
}

bool is_near(Rate rate, Rate expected, int basis_points) {
  constexpr int kBasisPointsPerWhole = 10'000;
  const Wide actual = Wide{rate.numerator} * expected.denominator;
  const Wide wanted = Wide{expected.numerator} * rate.denominator;
  const Wide difference = actual < wanted ? wanted - actual : actual - wanted;
  return difference * kBasisPointsPerWhole <= wanted * basis_points;
}

Amount truncate_to(Amount amount, int decimals) {
  const std::int64_t step = power_of_ten(Amount::kScale - decimals);
  return Amount::from_units(amount.units() / step * step);
}

std::string decimals_rule(std::string_view asset_code, int decimals) {
  return "must have at most " + std::to_string(decimals) + " decimal places, as " +
         std::string(asset_code) + " has";
}

}  // namespace coffer
