#include "outbound/providers/breaker.h"

#include <catch2/catch.hpp>

using namespace coffer;
using namespace coffer::outbound;
using Kind = BreakerState::Kind;

namespace {

void fail(Breakers& breakers, std::int64_t key, int times) {
  for (int i = 0; i < times; ++i) breakers.admit(key)->failed();
}

}  // namespace

TEST_CASE("a breaker opens after five consecutive failures") {
  ManualClock clock;
  Breakers breakers(clock);
  CHECK(breakers.state(1).kind == Kind::closed);
  fail(breakers, 1, 4);
  CHECK(breakers.state(1).consecutive_faults == 4);
  breakers.admit(1)->succeeded();
  fail(breakers, 1, 4);
  CHECK(breakers.state(1).kind == Kind::closed);
  fail(breakers, 1, 1);
  CHECK(breakers.state(1).kind == Kind::open);
  CHECK(breakers.state(1).open_until == clock.now().plus_ms(10'000));
  const auto rejected = breakers.admit(1);
  REQUIRE_FALSE(rejected);
  CHECK(rejected.error().slug == Slug::provider_unavailable);
  CHECK(rejected.error().retry_after_s == 10);
  CHECK(breakers.admit(2));
}

TEST_CASE("half-open lets one trial through, whose success closes") {
  ManualClock clock;
  Breakers breakers(clock);
  fail(breakers, 1, 5);
  clock.advance_ms(9'999);
  const auto early = breakers.admit(1);
  REQUIRE_FALSE(early);
  CHECK(early.error().retry_after_s == 1);
  clock.advance_ms(1);
  CHECK(breakers.state(1).kind == Kind::half_open);
  auto trial = breakers.admit(1);
  REQUIRE(trial);
  CHECK_FALSE(breakers.admit(1));
  trial->succeeded();
  CHECK(breakers.state(1).kind == Kind::closed);
  CHECK(breakers.state(1).consecutive_faults == 0);
  fail(breakers, 1, 4);
  CHECK(breakers.admit(1));
}

TEST_CASE("the pause doubles with each failed trial, up to a minute") {
  ManualClock clock;
  Breakers breakers(clock);
  fail(breakers, 1, 5);
  for (const std::int64_t pause_ms : {10'000, 20'000, 40'000, 60'000, 60'000}) {
    INFO(pause_ms);
    CHECK(breakers.state(1).open_until == clock.now().plus_ms(pause_ms));
    clock.advance_ms(pause_ms);
    fail(breakers, 1, 1);
  }
  clock.advance_ms(60'000);
  breakers.admit(1)->succeeded();
  fail(breakers, 1, 5);
  CHECK(breakers.state(1).open_until == clock.now().plus_ms(10'000));
}

TEST_CASE("a call that began before the breaker opened does not affect it afterwards") {
  ManualClock clock;
  Breakers breakers(clock);
  auto old = breakers.admit(1);
  auto older = breakers.admit(1);
  fail(breakers, 1, 5);
  old->succeeded();
  CHECK(breakers.state(1).kind == Kind::open);
  older->failed();
  CHECK(breakers.state(1).consecutive_faults == 5);
}

TEST_CASE("a dropped permit counts as a failure") {
  ManualClock clock;
  Breakers breakers(clock);
  for (int i = 0; i < 5; ++i) CHECK(breakers.admit(1));
  CHECK(breakers.state(1).kind == Kind::open);
}
