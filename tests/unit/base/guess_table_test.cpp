#include "base/limits/guess_table.h"

#include <catch2/catch.hpp>

using namespace coffer;

namespace {

constexpr GuessRule kMachine{.free = 3, .first_ms = 1'000, .longest_ms = 60'000};
constexpr GuessRule kCode{.weight = GuessWeight::second_factor,
                          .free = 4,
                          .first_ms = 60'000,
                          .longest_ms = 3'600'000,
                          .memory_ms = 24 * 3'600'000};

}  // namespace

TEST_CASE("guess table: some failures are free, then the delay doubles up to its limit") {
  GuessTable table;
  std::int64_t now = 5;
  for (int i = 0; i < 3; ++i) {
    table.failed("a", kMachine, now);
    CHECK(table.wait_ms("a", now) == 0);
  }
  for (const std::int64_t delay : {1'000, 2'000, 4'000, 8'000, 16'000, 32'000, 60'000, 60'000}) {
    table.failed("a", kMachine, now);
    CHECK(table.wait_ms("a", now) == delay);
    CHECK(table.wait_ms("a", now + delay - 1) == 1);
    now += delay;
    CHECK(table.wait_ms("a", now) == 0);
  }
  CHECK(table.wait_ms("b", now) == 0);
  table.failed("a", kMachine, now);
  table.succeeded("a");
  CHECK(table.wait_ms("a", now) == 0);
  CHECK(table.size() == 0);
}

TEST_CASE("guess table: failures are forgotten after a quiet time, never before their delay") {
  GuessTable table;
  for (int i = 0; i < 4; ++i) table.failed("a", kMachine, 0);
  CHECK(table.wait_ms("a", 999) == 1);
  for (int i = 0; i < 3; ++i) table.failed("a", kMachine, kMachine.memory_ms);
  CHECK(table.wait_ms("a", kMachine.memory_ms) == 0);
  const GuessRule long_delay{
      .free = 0, .first_ms = 10'000, .longest_ms = 10'000, .memory_ms = 1'000};
  table.failed("b", long_delay, 0);
  CHECK(table.wait_ms("b", 9'999) == 1);
}

TEST_CASE("guess table: a flood of new keys replaces the least dangerous ones") {
  GuessTable table(100);
  for (int i = 0; i < 6; ++i) table.failed("owner's account", kCode, 0);
  for (int i = 0; i < 5; ++i) table.failed("persistent guesser", kMachine, 0);
  for (int i = 0; i < 10'400; ++i) table.failed("spoofed " + std::to_string(i), kMachine, 1);
  CHECK(table.size() == 100);
  CHECK(table.wait_ms("owner's account", 1) == 119'999);
  CHECK(table.wait_ms("persistent guesser", 1) == 1'999);
  // The flood does not lock out new names.
  CHECK(table.wait_ms("a new name", 1) == 0);
  // The newest entries of the flood replaced its oldest ones.
  for (int i = 0; i < 3; ++i) table.failed("spoofed 10399", kMachine, 1);
  CHECK(table.wait_ms("spoofed 10399", 1) == 1'000);
  // Keys with as many failures as the guesser's cost the attacker as much and have the same weight;
  // an account with a known password ranks above all of them.
  for (int i = 0; i < 200; ++i) {
    for (int n = 0; n < 9; ++n) table.failed("eager " + std::to_string(i), kMachine, 2);
  }
  CHECK(table.wait_ms("owner's account", 2) == 119'998);
  CHECK(table.size() == 100);
}
