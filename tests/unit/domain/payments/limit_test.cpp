// Calendar periods and counters of limits (docs/contract.md#payment-limits).
#include "domain/payments/limit.h"

#include <catch2/catch.hpp>
#include <limits>

using namespace coffer;

namespace limit_test {
namespace {

Timestamp at(const char* text) { return Timestamp::parse(text).value(); }
Amount units(std::int64_t value) { return Amount::from_units(value); }
const LimitName kName{"wallet", "USDC", 7};

}  // namespace

TEST_CASE("days and months are those of the calendar in UTC") {
  struct Row {
    const char* at;
    const char* day;
    const char* month;
    const char* next;
  };
  for (const Row& row : std::initializer_list<Row>{
           {"2026-01-31T23:59:59.999Z", "2026-01-31", "2026-01-01", "2026-02-01"},
           {"2026-02-01T00:00:00Z", "2026-02-01", "2026-02-01", "2026-03-01"},
           {"2028-02-29T12:00:00Z", "2028-02-29", "2028-02-01", "2028-03-01"},
           {"2026-12-31T00:00:00Z", "2026-12-31", "2026-12-01", "2027-01-01"}}) {
    CHECK(day_start(at(row.at)) == at(row.day));
    CHECK(month_start(at(row.at)) == at(row.month));
    CHECK(next_month_start(at(row.at)) == at(row.next));
  }
}

TEST_CASE("counters of a limit restart with their period, and give back only within it") {
  LimitUse use = current_use({}, at("2026-01-31T10:00:00Z"));
  PaymentLimits limits{.per_day = units(10)};
  REQUIRE(take_of_limit(limits, use, units(7), kName, "amount"));
  CHECK_FALSE(take_of_limit(limits, use, units(4), kName, "amount"));
  CHECK(use.day == PeriodUse{at("2026-01-31"), units(7), 1});
  use = current_use(use, at("2026-02-01T00:00:00Z"));
  CHECK(use.month == PeriodUse{at("2026-02-01"), {}, 0});
  REQUIRE(take_of_limit(limits, use, units(10), kName, "amount"));
  recount_use(use, -units(7), -1, at("2026-01-31T10:00:00Z"));
  CHECK(use.day == PeriodUse{at("2026-02-01"), units(10), 1});
  use = current_use(use, at("2026-02-02T00:00:00Z"));
  recount_use(use, -units(10), -1, at("2026-02-01T00:00:00Z"));
  CHECK(use.day == PeriodUse{at("2026-02-02"), {}, 0});
  CHECK(use.month == PeriodUse{at("2026-02-01"), {}, 0});
}

TEST_CASE("what is left of a limit is told without the other transfers of the payment") {
  const LimitUse before = current_use({}, at("2026-01-31"));
  LimitUse use = before;
  const auto left = [](const auto& result) { return result ? "taken" : result.error().detail; };
  const PaymentLimits most{.per_day = units(150'0000000)};
  for (int i = 0; i < 2; ++i)
    REQUIRE(take_of_limit(most, use, units(60'0000000), kName, "amount", before));
  CHECK(left(take_of_limit(most, use, units(60'0000000), kName, "amount", before))
            .find("Left are 150.00 ") != std::string::npos);
  use = before;
  const PaymentLimits few{.payments_per_day = 3};
  for (int i = 0; i < 3; ++i) REQUIRE(take_of_limit(few, use, units(1), kName, "amount", before));
  CHECK(left(take_of_limit(few, use, units(1), kName, "amount", before))
            .find("Left are 3 payments;") != std::string::npos);
}

TEST_CASE("a sum beyond the range of amounts exceeds every limit") {
  LimitUse use = current_use({}, at("2026-01-31"));
  const Amount most = units(std::numeric_limits<std::int64_t>::max());
  const PaymentLimits limits{.payments_per_day = 5};
  REQUIRE(take_of_limit(limits, use, most, kName, "amount"));
  const auto more = take_of_limit(limits, use, units(1), kName, "amount");
  REQUIRE_FALSE(more);
  CHECK(more.error().slug == Slug::limit_exceeded);
}

}  // namespace limit_test
