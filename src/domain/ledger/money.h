// Money: exact amounts, asset codes, rates. The only arithmetic on amounts is here.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace coffer {

/// An amount in units of 10^-7 (scale 7 for every asset), in a checked signed 64-bit integer.
/// There is no constructor from double. Overflow of `add` and `sub` is a Problem
/// (`amount-out-of-range`); where the ledger has proved it impossible, use the throwing operators.
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

  /// Decimal text without exponent: at least `min(decimals, 2)` places, no superfluous zeros beyond
  /// them (docs/contract.md#amounts).
  std::string to_string(int decimals) const;

  constexpr auto operator<=>(const Amount&) const = default;

 private:
  constexpr explicit Amount(std::int64_t units) : units_(units) {}
  std::int64_t units_ = 0;
};

/// Why a decimal text is no amount.
enum class AmountFault { none, not_a_number, too_precise, out_of_range };

struct ParsedAmount {
  Amount amount;
  AmountFault fault = AmountFault::none;
};

/// Reads "12.5", "1e2", "0.0000001": a JSON number's grammar, from its source text. Zero and
/// negative values are `out_of_range`; more than `decimals` significant places `too_precise`
/// (trailing zeros are not significant); beyond int64 at scale 7 `out_of_range`.
ParsedAmount parse_amount(std::string_view text, int decimals);

/// The bare code of an asset: 1 to 12 of A-Z a-z 0-9 (Stellar alphanum rule).
class AssetCode {
 public:
  AssetCode() = default;
  static std::optional<AssetCode> parse(std::string_view text);
  const std::string& value() const { return value_; }
  auto operator<=>(const AssetCode&) const = default;

 private:
  std::string value_;
};

/// A row of the asset registry. `key` is its row number in the store.
struct Asset {
  std::int64_t key = 0;
  AssetCode code;
  std::string issuer;  // G... public key
  std::string name;
  int decimals = 7;  // places an input may have and an output shows at least min(2, decimals) of
};

/// For `amount-precision`: what the field must have, with the field as the subject.
std::string decimals_rule(std::string_view asset_code, int decimals);

enum class Rounding { down, up };

/// Price of one unit of the sold asset in the bought asset, as an exact ratio of positive integers.
struct Rate {
  std::int64_t numerator = 1;
  std::int64_t denominator = 1;

  /// From decimal text such as "0.9215" (up to 9 places); nullopt unless positive and exact.
  static std::optional<Rate> parse(std::string_view text);
  /// Decimal text with up to 9 places, rounded down when longer.
  std::string to_string() const;
};

/// amount x rate through 128 bits. The caller says which way the last unit goes; a result beyond
/// int64 is `amount-out-of-range`.
Result<Amount> multiply(Amount amount, Rate rate, Rounding rounding);

/// `amount` truncated to `decimals` places; the operator keeps the rest.
Amount truncate_to(Amount amount, int decimals);

}  // namespace coffer
