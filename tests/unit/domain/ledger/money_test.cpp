#include "domain/ledger/money.h"

#include <catch2/catch.hpp>
#include <limits>
#include <string>
#include <vector>

using namespace coffer;

namespace money_test {
namespace {

constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kMin = std::numeric_limits<std::int64_t>::min();

Amount units(std::int64_t value) { return Amount::from_units(value); }

struct ParseCase {
  std::string text;
  int decimals;
  AmountFault fault;
  std::int64_t units = 0;
};

/// As JSON numbers, and without an exponent also as texts.
void check_parse(const std::vector<ParseCase>& cases) {
  for (const ParseCase& c : cases) {
    INFO("text '" << c.text << "', decimals " << c.decimals);
    const ParsedAmount parsed = parse_amount(c.text, c.decimals, Exponent::accepted);
    const ParsedAmount as_text = parse_amount(c.text, c.decimals);
    const bool has_exponent = c.text.find_first_of("eE") != std::string::npos;
    CHECK(as_text.fault == (has_exponent ? AmountFault::not_a_number : c.fault));
    CHECK(as_text.amount == (has_exponent ? Amount() : parsed.amount));
    CHECK(parsed.fault == c.fault);
    CHECK(parsed.amount == units(c.units));
  }
}

}  // namespace

TEST_CASE("money: amounts are parsed exactly") {
  using enum AmountFault;
  check_parse({
      {"1", 7, none, 10'000'000},
      {"12.5", 7, none, 125'000'000},
      {"0.0000001", 7, none, 1},
      {"0.1", 7, none, 1'000'000},
      {"0.10", 2, none, 1'000'000},
      {"100.00", 0, none, 1'000'000'000},
      {"1e2", 7, none, 1'000'000'000},
      {"1E+2", 7, none, 1'000'000'000},
      {"1.5e1", 0, none, 150'000'000},
      {"25e-1", 1, none, 25'000'000},
      {"1000e-7", 7, none, 1'000},
      {"1e-7", 7, none, 1},
      {"9007199254740.993", 7, out_of_range, 0},
      {"900719925474.0993", 7, none, 9'007'199'254'740'993'000},
      {"922337203685.4775807", 7, none, kMax},
      {"9223372036854775807e-7", 7, none, kMax},
      {"12.50000000000000000000000000", 1, none, 125'000'000},
      {"0.00000010000000000000000000", 7, none, 1},
  });
}

TEST_CASE("money: invalid numbers are distinguished from invalid amounts") {
  using enum AmountFault;
  for (const char* text :
       {"",         " ",   "-",     "+1",   ".5",   "5.",   "00",    "01",    "1 ",
        " 1",       "1,5", "1.2.3", "0x10", "1e",   "1e+",  "1e1.5", "1f",    "NaN",
        "Infinity", "１",  "--1",   "1e ",  "null", "true", "\"1\"", "1_000", "1.e3"}) {
    INFO("text '" << text << "'");
    CHECK(parse_amount(text, 7).fault == not_a_number);
    CHECK(parse_amount(text, 7, Exponent::accepted).fault == not_a_number);
  }
  CHECK(parse_amount(std::string_view("1\0", 2), 7).fault == not_a_number);
  check_parse({
      {"0", 7, out_of_range},
      {"0.00", 7, out_of_range},
      {"-0", 7, out_of_range},
      {"0e999999999999999999999", 7, out_of_range},
      {"-1", 7, out_of_range},
      {"-0.0000001", 7, out_of_range},
      {"922337203685.4775808", 7, out_of_range},
      {"9223372036854775808e-7", 7, out_of_range},
      {"1e12", 7, out_of_range},
      {"1e400", 7, out_of_range},
      {"1e9999999999999999999999", 7, out_of_range},
      {"99999999999999999999999999999999", 7, out_of_range},
      {"0.00000001", 7, too_precise},
      {"1e-8", 7, too_precise},
      {"1e-9999999999999999999999", 7, too_precise},
      {"1.005", 2, too_precise},
      {"1.5", 0, too_precise},
      {"10e-1", 0, none, 10'000'000},
  });
}

TEST_CASE("money: long texts neither overflow nor take long") {
  CHECK(parse_amount(std::string(100'000, '9'), 7).fault == AmountFault::out_of_range);
  CHECK(parse_amount("1." + std::string(100'000, '0'), 7).amount == units(10'000'000));
  CHECK(parse_amount("1." + std::string(100'000, '0') + "1", 7).fault == AmountFault::too_precise);
  CHECK(parse_amount("1e" + std::string(100'000, '9'), 7, Exponent::accepted).fault ==
        AmountFault::out_of_range);
  CHECK(parse_amount("0." + std::string(100'000, '0') + "1e100000", 7, Exponent::accepted).fault ==
        AmountFault::none);
}

TEST_CASE("money: amounts show the asset's decimals, at least two, without further zeros") {
  struct Case {
    std::int64_t value;
    int decimals;
    std::string text;
  };
  const std::vector<Case> cases{
      {0, 7, "0.00"},
      {0, 0, "0"},
      {0, 1, "0.0"},
      {10'000'000, 7, "1.00"},
      {10'000'000, 2, "1.00"},
      {10'000'000, 1, "1.0"},
      {10'000'000, 0, "1"},
      {1, 7, "0.0000001"},
      {1'000'000, 7, "0.10"},
      {1'234'500, 7, "0.12345"},
      {-1, 7, "-0.0000001"},
      {-125'000'000, 2, "-12.50"},
      {kMax, 7, "922337203685.4775807"},
      {kMin, 7, "-922337203685.4775808"},
      // More decimals than the asset has can only come from a bug, and are shown, not hidden.
      {15'000'000, 0, "1.5"},
  };
  for (const Case& c : cases) {
    INFO(c.value << " with " << c.decimals);
    CHECK(units(c.value).to_string(c.decimals) == c.text);
  }
}

TEST_CASE("money: displayed amounts are parsed as the same amount") {
  for (const std::int64_t value :
       {std::int64_t{1}, std::int64_t{9'999'999}, std::int64_t{10'000'000},
        std::int64_t{123'456'789'012}, kMax - 1, kMax}) {
    CHECK(parse_amount(units(value).to_string(7), 7).amount == units(value));
  }
}

TEST_CASE("money: sums beyond the largest amount are Problems, never wrapped") {
  CHECK(units(kMax - 1).add(units(1)).value() == units(kMax));
  CHECK(units(kMax).add(units(1)).error().slug == Slug::amount_out_of_range);
  CHECK(units(kMin).sub(units(1)).error().slug == Slug::amount_out_of_range);
  CHECK(units(kMin).add(units(-1)).error().slug == Slug::amount_out_of_range);
  CHECK(units(-1).sub(units(kMax)).value() == units(kMin));
  CHECK(units(0).sub(units(kMin)).error().slug == Slug::amount_out_of_range);
  CHECK_THROWS_AS(units(kMax) + units(1), InternalError);
  CHECK_THROWS_AS(units(kMin) - units(1), InternalError);
  CHECK_THROWS_AS(-units(kMin), InternalError);
  CHECK(-units(kMax) == units(-kMax));
}

TEST_CASE("money: multiplication uses 128 bits and the given rounding") {
  struct Case {
    std::int64_t amount;
    Rate rate;
    std::int64_t down;
    std::int64_t up;
  };
  const std::vector<Case> cases{
      {10'000'000, {9'215, 10'000}, 9'215'000, 9'215'000},
      {1, {1, 2}, 0, 1},
      {1, {1, 3}, 0, 1},
      {2, {1, 2}, 1, 1},
      {3, {1, 2}, 1, 2},
      {7, {2, 3}, 4, 5},
      {0, {5, 7}, 0, 0},
      {kMax, {1, 1}, kMax, kMax},
      {kMax, {kMax, kMax}, kMax, kMax},
      {kMax, {1, kMax}, 1, 1},
      {kMax - 1, {1, kMax}, 0, 1},
      {kMax, {kMax - 1, kMax}, kMax - 1, kMax - 1},
  };
  for (const Case& c : cases) {
    INFO(c.amount << " x " << c.rate.numerator << "/" << c.rate.denominator);
    CHECK(multiply(units(c.amount), c.rate, Rounding::down).value() == units(c.down));
    CHECK(multiply(units(c.amount), c.rate, Rounding::up).value() == units(c.up));
  }
  CHECK(multiply(units(kMax), {kMax, 1}, Rounding::down).error().slug == Slug::amount_out_of_range);
  CHECK(multiply(units(kMax), {1'000'001, 1'000'000}, Rounding::down).error().slug ==
        Slug::amount_out_of_range);
  // The last digit decides: kMax/2 * 2 + 1 fits, but rounded up it is one more.
  CHECK(multiply(units(kMax), {kMax, kMax - 1}, Rounding::down).error().slug ==
        Slug::amount_out_of_range);
  CHECK_THROWS_AS(multiply(units(-1), {1, 1}, Rounding::down), InternalError);
  CHECK_THROWS_AS(multiply(units(1), {0, 1}, Rounding::down), InternalError);
  CHECK_THROWS_AS(multiply(units(1), {1, 0}, Rounding::down), InternalError);
}

TEST_CASE("money: truncation to an asset's decimals is towards zero") {
  CHECK(truncate_to(units(19'999'999), 0) == units(10'000'000));
  CHECK(truncate_to(units(19'999'999), 2) == units(19'900'000));
  CHECK(truncate_to(units(19'999'999), 7) == units(19'999'999));
  CHECK(truncate_to(units(99'999), 2) == units(0));
  CHECK(truncate_to(units(-19'999'999), 0) == units(-10'000'000));
  CHECK(truncate_to(units(kMax), 0) == units(9'223'372'036'850'000'000 / 10'000'000 * 10'000'000));
}

TEST_CASE("money: rates are exact ratios") {
  const auto rate = Rate::parse("0.9215");
  REQUIRE(rate);
  CHECK(rate->numerator == 9'215);
  CHECK(rate->denominator == 10'000);
  CHECK(rate->to_string() == "0.9215");
  for (const char* text : {"1", "1500", "0.000000001", "129.5", "0.123456789", "9223372036"}) {
    INFO(text);
    REQUIRE(Rate::parse(text));
    CHECK(Rate::parse(text)->to_string() == text);
  }
  CHECK(Rate::parse("1e3")->to_string() == "1000");
  CHECK(Rate{1, 3}.to_string() == "0.333333333");
  CHECK(Rate{2, 1}.to_string() == "2");
  for (const char* text : {"", "0", "0.0", "-1", "-0.5", "abc", "0.0000000001", "1e-10", "1e30",
                           "9223372036854775808", " 1", "1/2"}) {
    INFO(text);
    CHECK_FALSE(Rate::parse(text));
  }
}

TEST_CASE("money: asset codes are 1 to 12 letters and digits") {
  for (const char* text : {"A", "USDC", "eurc", "x1", "ABCDEFGHIJKL", "0"}) {
    INFO(text);
    REQUIRE(AssetCode::parse(text));
    CHECK(AssetCode::parse(text)->value() == text);
  }
  for (const char* text : {"", "ABCDEFGHIJKLM", "US DC", "USD-C", "USDÇ", "USDC\n", "USDC:G"}) {
    INFO(text);
    CHECK_FALSE(AssetCode::parse(text));
  }
  CHECK(AssetCode::parse("usdc") != AssetCode::parse("USDC"));
}

}  // namespace money_test
