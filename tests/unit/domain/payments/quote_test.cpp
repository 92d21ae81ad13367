#include "domain/providers/quote.h"

#include <catch2/catch.hpp>
#include <limits>

using namespace coffer;

namespace quote_test {
namespace {

constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();

Amount amount(const char* text) {
  return std::string_view(text) == "0" ? Amount() : parse_amount(text, Amount::kScale).amount;
}

ConnectorTerms off_ramp(const char* rate = "129.5", FeeRule fee = {}) {
  ConnectorTerms terms;
  terms.currency = "KES";
  terms.asset.code = *AssetCode::parse("USDC");
  terms.rate = *Rate::parse(rate);
  terms.fee = fee;
  terms.min_amount = amount("1");
  terms.max_amount = amount("1000");
  return terms;
}

ConnectorTerms on_ramp(const char* rate, FeeRule fee) {
  ConnectorTerms terms = off_ramp(rate, fee);
  terms.direction = Direction::on_ramp;
  return terms;
}

std::string text(const Result<Price>& price) {
  if (!price) return std::string(info(price.error().slug).name);
  return price->send.to_string(7) + "/" + price->receive.to_string(7) + "/" +
         price->fee.to_string(7) + "/" + price->total.to_string(7);
}

std::vector<std::string> faults_of(const ConnectorTerms& terms, const char* send) {
  ValidationErrors errors;
  check_quote_amount(terms, amount(send), errors);
  std::vector<std::string> out;
  if (errors.empty()) return out;
  const Problem problem = errors.problem();
  for (const FieldError& error : problem.fields) out.push_back(error.field);
  out.push_back(std::string(info(problem.slug).name));
  return out;
}

}  // namespace

TEST_CASE("fees are rounded up to the decimals of the sending side", "[quote]") {
  const FeeRule rule{amount("0.5"), 100};
  CHECK(fee_on(rule, amount("100"), 7)->to_string(7) == "1.50");
  CHECK(fee_on(rule, amount("1.0000001"), 7)->to_string(7) == "0.5100001");
  CHECK(fee_on(rule, amount("1.01"), 2)->to_string(2) == "0.52");
  CHECK(fee_on({amount("0.001"), 0}, amount("5"), 0)->to_string(0) == "1");
  CHECK(fee_on({}, amount("5"), 7)->is_zero());
  CHECK(fee_on({Amount(), 1}, amount("0.0000001"), 7)->units() == 1);
  CHECK_FALSE(fee_on({Amount::from_units(kMax), 10'000}, Amount::from_units(kMax), 7));
  CHECK_FALSE(fee_on({Amount::from_units(kMax), 0}, amount("1"), 2));
}

TEST_CASE("an off-ramp adds its fee to the sent amount", "[quote]") {
  const ConnectorTerms terms = off_ramp("129.5", {amount("0.5"), 100});
  CHECK(text(price_exact_send(terms, amount("100"), std::nullopt)) ==
        "100.00/12950.00/1.50/101.50");
  CHECK(text(price_exact_send(terms, amount("100"), FeeRule{})) == "100.00/12950.00/0.00/100.00");
  CHECK(text(price_exact_send(terms, amount("100"), FeeRule{amount("3"), 0})) ==
        "100.00/12950.00/3.00/103.00");
  CHECK(text(price_exact_send(terms, amount("1.00009"), FeeRule{})) ==
        "1.00009/129.51/0.00/1.00009");
  CHECK(text(price_exact_send(terms, amount("0.00001"), FeeRule{})) == "amount-out-of-range");
  CHECK(text(price_exact_send(off_ramp("0.5"), Amount::from_units(kMax),
                              FeeRule{amount("1"), 0})) == "amount-out-of-range");
  CHECK(text(price_exact_send(off_ramp("2"), Amount::from_units(kMax), std::nullopt)) ==
        "amount-out-of-range");
}

TEST_CASE("an on-ramp deducts its fee from the sent amount", "[quote]") {
  const ConnectorTerms terms = on_ramp("0.0075", {amount("10"), 100});
  CHECK(text(price_exact_send(terms, amount("1000"), std::nullopt)) ==
        "1000.00/7.35/20.00/1000.00");
  CHECK(text(price_exact_send(terms, amount("10.1"), std::nullopt)) == "amount-out-of-range");
  CHECK(text(price_exact_send(terms, amount("10"), std::nullopt)) == "amount-out-of-range");
}

TEST_CASE("an exact receive amount costs the smallest send amount that gives it", "[quote]") {
  CHECK(text(price_exact_receive(off_ramp(), amount("1000"), std::nullopt)) ==
        "7.7220078/1000.00/0.00/7.7220078");
  CHECK(text(price_exact_receive(off_ramp("1"), amount("0.01"), std::nullopt)) ==
        "0.01/0.01/0.00/0.01");
  CHECK(text(price_exact_receive(on_ramp("0.0075", {amount("10"), 100}), amount("7.35"),
                                 std::nullopt)) == "1000.00/7.35/20.00/1000.00");
  CHECK(text(price_exact_receive(off_ramp("0.5"), Amount::from_units(kMax), std::nullopt)) ==
        "amount-out-of-range");
  // The fee takes everything, so no amount arrives.
  CHECK(text(price_exact_receive(on_ramp("1", {Amount(), 10'000}), amount("1"), std::nullopt)) ==
        "amount-out-of-range");
}

TEST_CASE("a quote is open until it is used or the instant of its expiry", "[quote]") {
  const Timestamp expiry{1'000};
  CHECK(quote_status(false, expiry, {999}) == QuoteStatus::open);
  CHECK(quote_status(false, expiry, {1'000}) == QuoteStatus::expired);
  CHECK(quote_status(true, expiry, {999}) == QuoteStatus::used);
  CHECK(quote_status(true, expiry, {1'000}) == QuoteStatus::used);
}

TEST_CASE("the amounts that a connector accepts", "[quote]") {
  using List = std::vector<std::string>;
  ConnectorTerms terms = off_ramp();
  CHECK(faults_of(terms, "1").empty());
  CHECK(faults_of(terms, "1000").empty());
  CHECK(faults_of(terms, "0.9999999") == List{"amount", "amount-out-of-range"});
  CHECK(faults_of(terms, "1000.0000001") == List{"amount", "amount-out-of-range"});
  terms.direction = Direction::on_ramp;
  CHECK(faults_of(terms, "1.005") == List{"amount", "amount-precision"});
  CHECK(faults_of(terms, "0.005") == List{"amount", "amount", "validation-failed"});
}

TEST_CASE("credits of an on-ramp with a different amount", "[quote]") {
  // 10,000 less 110 at 0.0075.
  const Price price =
      *price_exact_send(on_ramp("0.0075", {amount("10"), 100}), amount("10000"), {});
  REQUIRE(price.receive == amount("74.175"));
  const auto credited = [&](const char* collected, int decimals = 7) {
    return received_of(price, amount(collected), decimals).to_string(7);
  };
  CHECK(credited("10000") == "74.175");
  CHECK(credited("20000") == "74.175");
  CHECK(credited("5000") == "36.675");
  CHECK(credited("9999.99") == "74.174925");
  CHECK(credited("5000", 2) == "36.67");
  CHECK(credited("110.01") == "0.000075");
  CHECK(credited("110.01", 2) == "0.00");
  CHECK(credited("110") == "0.00");
  CHECK(credited("0.01") == "0.00");
}

TEST_CASE("an underpaid on-ramp credits at most its share at any rate of the quote", "[quote]") {
  const Price price{amount("100"), amount("50"), amount("0"), amount("100"),
                    *Rate::parse("1000000")};
  CHECK(received_of(price, amount("99"), 7) == amount("49.5"));
  CHECK(received_of(price, amount("0.01"), 2) == amount("0.01"));  // its share up to the last place
  const Price poor{amount("100"), amount("50"), amount("0"), amount("100"), *Rate::parse("0.1")};
  CHECK(received_of(poor, amount("99"), 7) == amount("9.9"));
  const Price all_fee{amount("100"), amount("50"), amount("100"), amount("100"), {}};
  CHECK(received_of(all_fee, amount("99"), 7).is_zero());
  const Amount most = Amount::from_units(kMax);
  const Price vast{most, most, Amount(), most, {kMax, 1}};
  CHECK(received_of(vast, Amount::from_units(kMax - 1), 7) == Amount::from_units(kMax - 1));
}

TEST_CASE(
    "a higher collected amount credits more, and only the full amount credits the whole quote",
    "[quote]") {
  for (const char* rate : {"0.0075", "0.333333333", "1", "129.5"}) {
    for (const int decimals : {7, 2, 0}) {
      ConnectorTerms terms = on_ramp(rate, {amount("1"), 133});
      terms.asset.decimals = decimals;
      const Price price = *price_exact_send(terms, amount("997.53"), {});
      Amount before;
      for (std::int64_t cents = 1; cents <= 99'753; cents += 97) {
        const Amount collected = Amount::from_units(cents * 100'000);
        const Amount credit = received_of(price, collected, decimals);
        // As if the quote had this fee.
        const Amount left = Amount::from_units(collected.units() - price.fee.units());
        const Amount wanted =
            left.is_positive() ? truncate_to(*multiply(left, *terms.rate, Rounding::down), decimals)
                               : Amount();
        if (credit != wanted) FAIL(rate << " " << decimals << " " << collected.to_string(2));
        if (credit < before) FAIL("less for more: " << collected.to_string(2));
        before = credit;
      }
      CHECK(received_of(price, price.send, decimals) == price.receive);
    }
  }
}

/// The fault of a provider's quote; `rate` is written as by the provider.
std::string fault(const ConnectorTerms& terms, const char* asked, bool exact_receive,
                  const char* send, const char* receive, const char* fee, const char* rate) {
  const std::string_view text = rate;
  const auto point = text.find('.');
  const int places =
      point == std::string_view::npos ? 0 : static_cast<int>(text.size() - point - 1);
  return quote_fault(terms, {amount(asked), exact_receive, {}},
                     {amount(send), amount(receive), amount(fee), *Rate::parse(rate), places});
}

TEST_CASE("a provider's quote agrees with the request and with its own rate", "[quote]") {
  struct Case {
    bool off_ramp;
    bool exact_receive;
    const char* asked;
    const char* send;
    const char* receive;
    const char* fee;
    const char* rate;
    bool good;
  };
  for (const Case& c : std::vector<Case>{
           // Off-ramp: the fee comes on top.
           {true, false, "100", "100", "12950", "0", "129.5", true},
           {true, false, "100", "100", "12950", "9", "129.5", true},
           {true, false, "100", "100", "12950", "100", "129.5", true},
           {true, false, "100", "100", "12950", "100.01", "129.5", false},
           {true, false, "100", "100", "100", "10000", "1.0", false},
           {true, false, "100", "100", "10000", "10000", "1.0", false},
           {true, false, "100", "100", "1", "0", "1.0", false},
           {true, false, "100", "100", "12820.5", "1", "129.5", false},  // less the fee
           // Half a unit of the last written place of the rate, and one cent.
           {true, false, "100", "100", "12955.01", "0", "129.5", true},
           {true, false, "100", "100", "12955.02", "0", "129.5", false},
           {true, false, "100", "100", "12944.99", "0", "129.5", true},
           {true, false, "100", "100", "12944.98", "0", "129.5", false},
           {true, false, "100", "100", "12950.51", "0", "129.50", true},
           {true, false, "100", "100", "12950.52", "0", "129.50", false},
           {true, false, "100", "100", "12950.01", "0", "129.500000000", true},
           {true, false, "100", "100", "12950.02", "0", "129.500000000", false},
           {true, false, "100", "100", "13000", "0", "130", true},
           {true, false, "100", "100", "13050.02", "0", "130", false},
           {true, false, "100", "101", "13079.5", "0", "129.5", false},
           // On-ramp: the fee is part of the sent amount.
           {false, false, "10000", "10000", "74.175", "110", "0.0075", true},
           {false, false, "10000", "10000", "75", "110", "0.00750000", false},
           {false, false, "10000", "10000", "74.1750001", "110", "0.007500000", true},
           {false, false, "10000", "10000", "74.18", "110", "0.007500000", false},
           {false, false, "10000", "10000", "74.175", "0", "0.007500000", false},
           {false, false, "10000", "10000", "0.0000001", "10000", "0.0075", false},
           // The amount that arrives is given, in both directions.
           {true, true, "1000", "7.7220078", "1000", "0", "129.5", true},
           {true, true, "1000", "7.73", "1000", "0", "129.50000", true},
           {true, true, "1000", "7.73", "1001.03", "0", "129.50000", true},
           {true, true, "1000", "7.72", "999.74", "0", "129.5", false},
           {true, true, "1000", "77.2200773", "10000", "0", "129.5", false},
           {true, true, "1000", "8", "1000", "0", "129.50000", false},
           {false, true, "7.35", "1000", "7.35", "20", "0.0075", true},
           {false, true, "7.35", "980", "7.35", "20", "0.0075000", false}}) {
    INFO(c.asked << " " << c.send << " " << c.receive << " " << c.fee << " " << c.rate);
    ConnectorTerms terms = c.off_ramp ? off_ramp() : on_ramp("0.0075", {});
    terms.driver = DriverKind::http;
    CHECK(fault(terms, c.asked, c.exact_receive, c.send, c.receive, c.fee, c.rate).empty() ==
          c.good);
  }
}

TEST_CASE("a provider's quote is near the terms if the operator set a tolerance", "[quote]") {
  ConnectorTerms terms = off_ramp("129.5", {amount("0.5"), 100});
  const auto good = [&](const char* receive, const char* fee, const char* rate) {
    return fault(terms, "100", false, "100", receive, fee, rate).empty();
  };
  CHECK(good("1295", "90", "12.95"));
  terms.tolerance_bps = 200;
  CHECK(good("12950", "1.5", "129.5"));
  CHECK(good("13209", "3.5", "132.09"));
  CHECK_FALSE(good("13210", "1.5", "132.10"));
  CHECK(good("12691", "0", "126.91"));
  CHECK_FALSE(good("12690", "0", "126.90"));
  CHECK_FALSE(good("12950", "3.51", "129.5"));
  terms.tolerance_bps = 0;
  CHECK(good("12950", "1.5", "129.5"));
  CHECK_FALSE(good("12950", "1.4", "129.5"));
  CHECK_FALSE(good("12951", "1.5", "129.51"));
  // A rate with few decimal places permits many amounts.
  terms.rate = Rate::parse("130");
  CHECK(good("13000.01", "1.5", "130"));
  CHECK_FALSE(good("13000.02", "1.5", "130"));
  CHECK_FALSE(good("12950.01", "1.5", "130"));
  terms.tolerance_bps = 30;
  CHECK(good("13039.01", "1.5", "130"));
  CHECK_FALSE(good("13039.02", "1.5", "130"));
  CHECK(good("12960.99", "1.5", "130"));
  CHECK_FALSE(good("12960.98", "1.5", "130"));
}

TEST_CASE("huge quotes are compared without overflow", "[quote]") {
  const char* const kLargest = "922337203685.4775807";
  CHECK_FALSE(
      fault(off_ramp(), kLargest, false, kLargest, "1", "0", "999999999.999999999").empty());
  CHECK_FALSE(
      fault(off_ramp(), "0.01", false, "0.01", "922337203685.47", "0", "0.000000001").empty());
  CHECK(fault(off_ramp(), "922337203685.47", false, "922337203685.47", "922337203685.47", "0",
              "1.000000000")
            .empty());
}

}  // namespace quote_test
