// Money: exact amounts, asset codes, rates. All arithmetic on amounts is in this file.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace coffer {

/// An amount in units of 10^-7 (scale 7 for every asset), in a checked signed 64-bit integer. There
/// is no constructor from double. `add` and `sub` return a Problem on overflow
/// (`amount-out-of-range`). If the ledger rules exclude an overflow, use the throwing operators.
class Amount {
 public:
  static constexpr int kScale = 7;
  static constexpr std::int64_t kUnitsPerWhole = 10'000'000;

  constexpr Amount() = default;
  static constexpr Amount from_units(std::int64_t units) { return Amount(units); }
  constexpr std::int64_t units() const { return units_; }
  constexpr bool is_positive() const { return units_ > 0; }
  constexpr bool is_negative() const { return units_ < 0; }
  constexpr bool is_zero() const { return units_ == 0; }

  Result<Amount> add(Amount other) const;
  Result<Amount> sub(Amount other) const;
  /// Throw InternalError on overflow: for sums that an earlier check has bounded.
  friend Amount operator+(Amount a, Amount b);
  friend Amount operator-(Amount a, Amount b);
  friend Amount operator-(Amount a);

  /// Decimal text without exponent, with at least `min(decimals, 2)` places and no further trailing
  /// zeros (docs/contract.md#amounts).
  std::string to_string(int decimals) const;

  constexpr auto operator<=>(const Amount&) const = default;

 private:
  constexpr explicit Amount(std::int64_t units) : units_(units) {}
  std::int64_t units_ = 0;
};

/// Why a decimal text is not a valid amount.
enum class AmountFault { none, not_a_number, too_precise, out_of_range };

struct ParsedAmount {
  Amount amount;
  AmountFault fault = AmountFault::none;
};

/// Whether a decimal may be written like 1e3. JSON numbers may; decimal texts may not.
enum class Exponent { rejected, accepted };

/// Reads "12.5", "0.0000001": the grammar of JSON numbers, from the source text. Zero and negative
/// values are `out_of_range`. More than `decimals` places are `too_precise` (trailing zeros do not
/// count). Values beyond int64 at scale 7 are `out_of_range`.
ParsedAmount parse_amount(std::string_view text, int decimals,
                          Exponent exponent = Exponent::rejected);

/// The same for an amount that may be zero, such as a fee.
ParsedAmount parse_fee(std::string_view text, int decimals);

/// The code of an asset: 1 to 12 of A-Z a-z 0-9 (the Stellar alphanumeric rule).
class AssetCode {
 public:
  AssetCode() = default;
  static std::optional<AssetCode> parse(std::string_view text);
  const std::string& value() const { return value_; }
  auto operator<=>(const AssetCode&) const = default;

 private:
  std::string value_;
};

/// A registered asset. `key` is its row key.
struct Asset {
  std::int64_t key = 0;
  AssetCode code;
  std::string issuer;  // G... public key
  std::string name;
  int decimals = 7;  // maximum places of input; output has at least min(2, decimals)
};

/// The rule for `amount-precision`, as a phrase that follows the field's name.
std::string decimals_rule(std::string_view asset_code, int decimals);

enum class Rounding { down, up };

/// Price of one unit of the sold asset in the bought asset, as an exact ratio of positive integers.
struct Rate {
  std::int64_t numerator = 1;
  std::int64_t denominator = 1;

  /// From decimal text such as "0.9215" (up to 9 places); nullopt unless positive and exact.
  static std::optional<Rate> parse(std::string_view text);
  /// Decimal text with up to 9 places, rounded down.
  std::string to_string() const;
};

/// amount x rate with 128-bit arithmetic. The caller determines the rounding. A result beyond int64
/// is `amount-out-of-range`.
Result<Amount> multiply(Amount amount, Rate rate, Rounding rounding);

/// Whether `to` is the conversion of `from` at `rate`, which was rounded to `rate_places` decimal
/// places: within half a unit of its last place, and `slack` of `to`. Exact.
bool converts(Amount from, Amount to, Rate rate, int rate_places, Amount slack);

/// Whether `rate` differs from `expected` by at most `basis_points` hundredths of a percent.
bool is_near(Rate rate, Rate expected, int basis_points);

/// `amount` truncated to `decimals` places; the difference stays with the operator.
Amount truncate_to(Amount amount, int decimals);

}  // namespace coffer
