// The time of records when the machine's clock is set back, and after a restart.
#include <catch2/catch.hpp>
#include <string>

#include "store/ledger/catalog.h"
#include "unit/store/ledger_fixture.h"
#include "unit/store/notes.h"

using namespace coffer;
using namespace coffer::store;
using namespace coffer::store::test;

TEST_CASE("commit queue: a clock that is set back is logged once, and so is its end") {
  OpenedFile file;
  CapturedLog log;
  const auto told = [&](const std::string& words) {
    int count = 0;
    for (std::size_t at = 0; (at = log.text().find(words, at)) != std::string::npos; ++at) ++count;
    return count;
  };
  const std::string behind = "clock is behind the records", ended = "no longer behind";
  file.queue->watch_clock();
  CHECK(file.queue->stats().clock_behind_ms == 0);
  file.clock.set_by_ms(-3'600'000);
  for (int i = 0; i < 3; ++i) {
    file.queue->watch_clock();
    file.clock.advance_ms(200);
  }
  CHECK(file.queue->stats().clock_behind_ms == 3'600'000);
  CHECK(told(behind) == 1);
  CHECK(told(ended) == 0);
  file.clock.set_by_ms(3'600'000);
  for (int i = 0; i < 3; ++i) file.queue->watch_clock();
  CHECK(file.queue->stats().clock_behind_ms == 0);
  CHECK(told(behind) == 1);
  CHECK(told(ended) == 1);
}

TEST_CASE(
    "commit queue: a restart continues from the last commit, even one without entry or event") {
  OpenedFile file;
  REQUIRE(file.write(note("any")));
  file.clock.advance_ms(5'000);
  REQUIRE(file.write(note("change")));
  const Timestamp last = file.queue->now();
  file.close();
  file.clock.set_by_ms(-3'600'000);
  CapturedLog log;
  file.open();
  CHECK(log.has("clock is behind the records"));
  CHECK(file.queue->now() == last);
  file.clock.advance_ms(2'000);
  CHECK(file.queue->now() == last.plus_ms(2'000));
}

TEST_CASE("commit queue: time does not go back after a restart") {
  SmallLedger ledger;
  ledger.clock.advance_ms(60'000);
  ledger.pay_and_settle(ledger.transfer("before", 1));
  const std::string before = ledger.value("SELECT max(at) FROM journal");
  ledger.close();
  CapturedLog log;
  ledger.clock.set_by_ms(-3'600'000);  // the machine restarted with a wrong clock
  ledger.open();
  ledger.pay_and_settle(ledger.transfer("after", 1));
  CHECK(ledger.value("SELECT max(at) FROM journal") == before);
  ledger.clock.advance_ms(10);
  ledger.pay_and_settle(ledger.transfer("later", 1));
  CHECK(std::stoll(ledger.value("SELECT max(at) FROM journal")) == std::stoll(before) + 10);
  CHECK(ledger.value("SELECT count(*) FROM (SELECT at - lag(at) OVER (ORDER BY journal) AS step"
                     " FROM journal) WHERE step < 0") == "0");
  CHECK(log.has("clock is behind the records"));
  // Work with a time from the writer is due by the writer's time.
  CHECK(ledger.queue->now().ms == std::stoll(before) + 10);
}

TEST_CASE(
    "commit queue: an advanced clock stays ahead over a restart and is not reported as wrong") {
  OpenedFile file;
  CapturedLog log;
  const Timestamp before = file.queue->now();
  REQUIRE(file.queue->advance_clock(kDayMs));
  CHECK(file.queue->now() == before.plus_ms(kDayMs));
  REQUIRE(file.queue->advance_clock(kDayMs));
  CHECK(file.queue->now() == before.plus_ms(2 * kDayMs));
  file.queue->watch_clock();
  CHECK(file.queue->stats().clock_behind_ms == 0);
  CHECK(file.queue->stats().clock_advanced_ms == 2 * kDayMs);
  file.close();
  file.clock.advance_ms(3'600'000);  // the time without a server counts
  file.open();
  CHECK(file.queue->now() == before.plus_ms(2 * kDayMs + 3'600'000));
  file.queue->watch_clock();
  CHECK(file.queue->stats().clock_behind_ms == 0);
  CHECK(file.queue->stats().clock_advanced_ms == 2 * kDayMs);
  CHECK_FALSE(log.has("clock is behind"));
}

TEST_CASE(
    "commit queue: an advanced clock never goes back, and a wrong machine clock is reported") {
  OpenedFile file;
  REQUIRE(file.queue->advance_clock(kDayMs));
  const Timestamp advanced = file.queue->now();
  file.clock.set_by_ms(-3'600'000);
  CHECK(file.queue->now() == advanced);
  CHECK(file.queue->stats().clock_behind_ms == 3'600'000);
  file.close();
  file.open();
  CHECK(file.queue->now() == advanced);
  CHECK(file.queue->stats().clock_behind_ms == 3'600'000);
  REQUIRE(file.queue->advance_clock(1'000));
  CHECK(file.queue->now() == advanced.plus_ms(1'000));
}

TEST_CASE("commit queue: advancing the clock wakes every kind of worker") {
  OpenedFile file;
  REQUIRE(file.signals == 0);
  REQUIRE(file.queue->advance_clock(1'000));
  // Signals are sent after the waiters are released, but before the next command runs.
  REQUIRE(file.write(note("note")));
  CHECK(file.signals == 0b1111U);
}
