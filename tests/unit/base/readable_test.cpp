#include "base/readable.h"

#include <catch2/catch.hpp>
#include <cstdint>

using namespace coffer;

TEST_CASE("readable: sizes in binary units") {
  CHECK(readable_bytes(0) == "0 B");
  CHECK(readable_bytes(1'023) == "1023 B");
  CHECK(readable_bytes(1'024) == "1.0 KiB");
  CHECK(readable_bytes(1'536) == "1.5 KiB");
  CHECK(readable_bytes(4'508'877) == "4.3 MiB");
  CHECK(readable_bytes(126LL << 20) == "126 MiB");
  CHECK(readable_bytes((1LL << 20) - 1) == "1.0 MiB");
  CHECK(readable_bytes(5LL << 30) == "5.0 GiB");
  CHECK(readable_bytes(INT64_MAX) == "8.0 EiB");
}

TEST_CASE("readable: durations by their two largest units") {
  CHECK(readable_duration(-5) == "0 ms");
  CHECK(readable_duration(340) == "340 ms");
  CHECK(readable_duration(4'260) == "4.2 s");
  CHECK(readable_duration(3'000) == "3 s");
  CHECK(readable_duration(42'900) == "42 s");
  CHECK(readable_duration(60'000) == "1 min");
  CHECK(readable_duration(22 * 60'000 + 5'000) == "22 min 5 s");
  CHECK(readable_duration(4 * 3'600'000 + 12 * 60'000 + 9'000) == "4 h 12 min");
  CHECK(readable_duration(3 * 86'400'000LL + 4 * 3'600'000) == "3 d 4 h");
  CHECK(readable_duration(INT64_MAX).ends_with(" h"));
}

TEST_CASE("readable: times, to the minute and exact") {
  const auto at = Timestamp::parse("2026-11-22T07:28:03.161Z").value();
  CHECK(readable_time(at) == "2026-11-22 07:28 UTC");
  CHECK(exact_time(at) == "2026-11-22 07:28:03.161 UTC");
}

TEST_CASE("readable: how long ago, or until then, within a day") {
  const auto now = Timestamp::parse("2026-11-22T07:28:03.161Z").value();
  CHECK(readable_age(now, now) == "0 s ago");
  CHECK(readable_age(now.plus_ms(-42'000), now) == "42 s ago");
  CHECK(readable_age(now.plus_ms(-22 * 60'000 - 59'000), now) == "22 min ago");
  CHECK(readable_age(now.plus_ms(-5 * 3'600'000), now) == "5 h ago");
  CHECK(readable_age(now.plus_ms(5 * 60'000), now) == "in 5 min");
  CHECK(readable_age(now.plus_ms(-86'400'000), now).empty());
  CHECK(readable_age(Timestamp{INT64_MAX}, now).empty());
}
