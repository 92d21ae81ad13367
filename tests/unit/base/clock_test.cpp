#include "base/clock.h"

#include <catch2/catch.hpp>

using namespace coffer;

namespace {

/// The parsed instant written back in UTC, or "rejected".
std::string utc(std::string_view text) {
  const auto at = Timestamp::parse(text);
  return at ? at->to_string() : "rejected";
}

}  // namespace

TEST_CASE("timestamp: written as RFC 3339 UTC with milliseconds") {
  CHECK(Timestamp{0}.to_string() == "1970-01-01T00:00:00.000Z");
  CHECK(Timestamp{1'767'225'600'007}.to_string() == "2026-01-01T00:00:00.007Z");
  CHECK(Timestamp{-1}.to_string() == "1969-12-31T23:59:59.999Z");
  CHECK(Timestamp{-86'400'000}.to_string() == "1969-12-31T00:00:00.000Z");
  CHECK(Timestamp{951'782'400'000}.to_string() == "2000-02-29T00:00:00.000Z");
  CHECK(Timestamp{253'402'300'799'999}.to_string() == "9999-12-31T23:59:59.999Z");
}

TEST_CASE("timestamp: every RFC 3339 form is parsed") {
  // The examples of RFC 3339 section 5.8, apart from the leap second.
  CHECK(utc("1985-04-12T23:20:50.52Z") == "1985-04-12T23:20:50.520Z");
  CHECK(utc("1996-12-19T16:39:57-08:00") == "1996-12-20T00:39:57.000Z");
  CHECK(utc("1937-01-01T12:00:27.87+00:20") == "1937-01-01T11:40:27.870Z");

  CHECK(utc("2026-01-31T09:00:00Z") == "2026-01-31T09:00:00.000Z");
  CHECK(utc("2026-01-31t09:00:00z") == "2026-01-31T09:00:00.000Z");
  CHECK(utc("2026-01-31 09:00:00Z") == "2026-01-31T09:00:00.000Z");
  CHECK(utc("2026-01-31T09:00:00.1Z") == "2026-01-31T09:00:00.100Z");
  CHECK(utc("2026-01-31T09:00:00.123456789Z") == "2026-01-31T09:00:00.123Z");
  CHECK(utc("2026-01-31T09:00:00-00:00") == "2026-01-31T09:00:00.000Z");
  CHECK(utc("2026-01-31T09:00:00+05:45") == "2026-01-31T03:15:00.000Z");
  CHECK(utc("2026-01-01T00:00:00+14:00") == "2025-12-31T10:00:00.000Z");
  CHECK(utc("2024-02-29T23:59:59-12:00") == "2024-03-01T11:59:59.000Z");
  CHECK(utc("2026-01-31") == "2026-01-31T00:00:00.000Z");
  CHECK(utc("2024-02-29") == "2024-02-29T00:00:00.000Z");
}

TEST_CASE("timestamp: other forms and nonexistent dates are rejected") {
  for (const char* text : {"",
                           "2026",
                           "2026-01",
                           "2026-1-31",
                           "2026-02-29",
                           "2026-02-30",
                           "2026-13-01",
                           "2026-00-01",
                           "2026-01-00",
                           "2026-01-32",
                           "2100-02-29",
                           "2026/01/31",
                           "20260131",
                           "31-01-2026",
                           "2026-01-31T",
                           "2026-01-31Z",
                           "2026-01-31T09",
                           "2026-01-31T09:00",
                           "2026-01-31T09:00Z",
                           "2026-01-31T09:00:00",
                           "2026-01-31T09:00:00.Z",
                           "2026-01-31T09:00:00,5Z",
                           "2026-01-31T24:00:00Z",
                           "2026-01-31T09:60:00Z",
                           "2026-01-31T09:00:61Z",
                           "2026-01-31T09:00:00+0100",
                           "2026-01-31T09:00:00+1:00",
                           "2026-01-31T09:00:00+24:00",
                           "2026-01-31T09:00:00+01:60",
                           "2026-01-31T09:00:00ZZ",
                           "2026-01-31T09:00:00Z ",
                           " 2026-01-31T09:00:00Z",
                           "2026-01-31T09:00:00+01:00Z",
                           "-026-01-31T09:00:00Z",
                           "2026-01-31x09:00:00Z",
                           "today"}) {
    INFO(text);
    CHECK(utc(text) == "rejected");
  }
}

TEST_CASE("timestamp: texts are parsed as the same time, over the whole calendar") {
  for (std::int64_t day = -30'000; day < 60'000; day += 13) {
    const Timestamp at{day * 86'400'000 + day * 977 % 86'400'000};
    CHECK(Timestamp::parse(at.to_string()) == at);
  }
}

TEST_CASE("clock: the manual clock stands still until it is advanced") {
  ManualClock clock({1000});
  CHECK(clock.now() == Timestamp{1000});
  clock.advance_ms(250);
  CHECK(clock.now() == Timestamp{1250});
  CHECK(clock.monotonic_ms() == 1250);
  CHECK(clock.now().plus_ms(-1250) == Timestamp{0});
}

TEST_CASE("clock: time continues when the system clock is set back") {
  ManualClock machine({1'000'000});
  ForwardClock clock(machine);
  CHECK(clock.now() == machine.now());
  machine.set_by_ms(-3'600'000);
  CHECK(clock.now() == Timestamp{1'000'000});
  CHECK(clock.ahead_ms() == 3'600'000);
  CHECK(clock.machine_now() == machine.now());
  machine.advance_ms(2'000);
  CHECK(clock.now() == Timestamp{1'002'000});
  CHECK(clock.ahead_ms() == 3'600'000);
  machine.set_by_ms(3'000'000);  // part of the way back
  CHECK(clock.ahead_ms() == 600'000);
  CHECK(clock.now() == Timestamp{1'002'000});
  machine.set_by_ms(700'000);  // and past it
  CHECK(clock.now() == machine.now());
  CHECK(clock.ahead_ms() == 0);
  CHECK(clock.monotonic_ms() == machine.monotonic_ms());
}

TEST_CASE("clock: it starts at the given time and continues from there") {
  ManualClock machine({1'000'000});
  ForwardClock clock(machine);
  clock.begin_at({900'000});
  CHECK(clock.now() == Timestamp{1'000'000});
  clock.begin_at({1'500'000});
  CHECK(clock.now() == Timestamp{1'500'000});
  machine.advance_ms(10);
  CHECK(clock.now() == Timestamp{1'500'010});
}

TEST_CASE("clock: the system clock is in this century and does not go back") {
  const SystemClock clock;
  CHECK(clock.now() > *Timestamp::parse("2025-01-01"));
  CHECK(clock.now() < *Timestamp::parse("2100-01-01"));
  const auto first = clock.monotonic_ms();
  CHECK(clock.monotonic_ms() >= first);
}
