// Closed months (docs/operating.md#close-a-month).
#include "flows/ledger/period_close.h"

#include <catch2/catch.hpp>
#include <filesystem>

#include "support/test_app.h"
#include "support/unguarded.h"

using namespace coffer;
using namespace coffer::test;

namespace period_close_test {
namespace {

struct World {
  TestApp app{[](Config& config) { config.token_lifetime_s = 100'000'000; }};

  /// Empty if the month was closed, otherwise the reason.
  std::string close(const char* month) {
    const auto done = flows::close_period(app.flows(), *flows::parse_period(month));
    return done ? "" : done.error().detail;
  }
  std::vector<store::ClosedPeriod> closed() {
    return app.flows()
        .read([](store::Connection& db) { return store::list_closed_periods(db); })
        .value();
  }
};

}  // namespace

TEST_CASE("months are closed in order, after they have ended") {
  World world;
  world.app.clock.advance_ms(40 * kDayMs);  // 2026-02-10
  CHECK(world.close("2026-01") == "2026-01 cannot be closed: the ledger has no entries.");
  const std::string from = world.app.wallet("USDC", "100"), to = world.app.wallet("USDC");
  CHECK(world.close("2026-02") ==
        "2026-02 cannot be closed: it has not ended. A month ends at midnight UTC.");
  CHECK(world.close("2027-01") ==
        "2027-01 cannot be closed: it has not ended. A month ends at midnight UTC.");
  CHECK(world.close("2026-01") == "2026-01 cannot be closed: the ledger begins in 2026-02.");
  world.app.clock.advance_ms(60 * kDayMs);  // 2026-04-11
  world.app.me().transfer(from, to, "30");
  world.app.settle();
  CHECK(world.close("2026-03") == "2026-03 cannot be closed: close 2026-02 first.");
  CHECK(world.close("2026-02").empty());
  CHECK(world.close("2026-02") == "2026-02 cannot be closed: it is already closed.");
  CHECK(world.close("2026-03").empty());
  const auto rows = world.closed();
  REQUIRE(rows.size() == 2);
  CHECK(rows[0].journal == rows[1].journal);  // nothing happened in March
  CHECK(rows[0].digest != rows[1].digest);
  CHECK(rows[0].accounts == 2);
  world.app.clock.advance_ms(30 * kDayMs);
  CHECK(world.close("2026-04").empty());
  CHECK(world.closed().back().accounts == 3);
  CHECK_FALSE(flows::parse_period("2026-13"));
  CHECK_FALSE(flows::parse_period("2026-1"));
  for (const char* month : {"2026-10", "0000-01", "0099-12"})
    CHECK(flows::period_text(*flows::parse_period(month)) == month);
}

TEST_CASE("verification computes the balances of closed months again") {
  World world;
  const std::string from = world.app.wallet("USDC", "100");
  world.app.clock.advance_ms(70 * kDayMs);
  REQUIRE(world.close("2026-01").empty());
  REQUIRE(world.close("2026-02").empty());
  const std::string copy = world.app.config().db + ".copy";
  for (const char* damage :
       {"SELECT 1", "UPDATE entries SET balance_after = balance_after + 1 WHERE balance_after > 0",
        "UPDATE closed_periods SET digest = zeroblob(32) WHERE period % 12 = 0",
        "UPDATE closed_periods SET accounts = accounts + 1 WHERE period % 12 = 1",
        "UPDATE closed_periods SET period = period + 1 WHERE period % 12 = 1"}) {
    INFO(damage);
    store::Connection(world.app.config().db, store::OpenMode::read_write)
        .execute("PRAGMA wal_checkpoint(TRUNCATE)");
    std::filesystem::copy_file(world.app.config().db, copy,
                               std::filesystem::copy_options::overwrite_existing);
    store::Connection db(copy, store::OpenMode::read_write);
    const bool sound = std::string_view(damage).starts_with("SELECT");
    if (!sound) change_unguarded(db, damage);
    CHECK(store::verify_closed_periods(db).empty() == sound);
  }
}

}  // namespace period_close_test
