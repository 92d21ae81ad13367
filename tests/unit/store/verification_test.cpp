// Verification in slices, with writes between them.
#include "store/operations/verification.h"

#include <catch2/catch.hpp>
#include <set>
#include <string>

#include "store/identity/audit_log.h"
#include "support/unguarded.h"
#include "unit/store/ledger_fixture.h"
#include "unit/store/statement_steps.h"

using namespace coffer;
using namespace coffer::store;
using namespace coffer::store::test;

namespace {

constexpr std::int64_t kLongMs = 60'000;
constexpr std::int64_t kStepRows = 64;

class Sliced {
 public:
  explicit Sliced(SmallLedger& ledger) : ledger_(ledger) {}

  /// Runs a whole round, and calls `between` after each slice.
  template <class F>
  VerifiedRows round(std::int64_t rows_max, F&& between) {
    VerifiedRows sum;
    slices = 0;
    while (!sum.round_over) {
      const ReadersScope scope(Readers::verification);
      const auto done = ledger_.read([&](Connection& db) {
        use_keys(db, test_keys());
        return verification.slice(db, rows_max, kLongMs);
      });
      CHECK(done.rows < rows_max + 2 * kStepRows);
      sum.rows += done.rows;
      sum.round_over = done.round_over;
      ++slices;
      between();
    }
    return sum;
  }
  VerifiedRows round() {
    return round(1'000, [] {});
  }
  bool found(const std::string& invariant) const {
    for (const Violation& one : verification.violations()) {
      if (one.invariant == invariant) return true;
    }
    return false;
  }

  Verification verification;
  int slices = 0;

 private:
  SmallLedger& ledger_;
};

void settle_many(SmallLedger& ledger, int from, int count) {
  for (int i = from; i < from + count; ++i) {
    ledger.pay_and_settle(ledger.transfer("p" + std::to_string(i), 1));
  }
}

/// Steps of SQLite's virtual machine for a complete round.
std::int64_t steps_of_round(SmallLedger& ledger) {
  Connection db(ledger.database->path(), OpenMode::read_only);
  use_keys(db, test_keys());
  Verification verification;
  while (!verification.slice(db, kStepRows, kLongMs).round_over) {
  }
  CHECK(verification.violations().empty());
  return steps_so_far(db);
}

void damage(SmallLedger& ledger, const std::string& sql) {
  Connection db(ledger.database->path(), OpenMode::read_write);
  coffer::test::change_unguarded(db, sql);
}

}  // namespace

TEST_CASE("verification: a slice reads few rows, and a round reads all") {
  SmallLedger ledger;
  settle_many(ledger, 0, 200);
  Sliced sliced(ledger);
  const VerifiedRows all = sliced.round(100, [] {});
  CHECK(sliced.verification.violations().empty());
  CHECK(sliced.slices > 5);
  CHECK(all.rows > 1'000);
  CHECK(sliced.verification.position() == ledger.count("journal"));
}

TEST_CASE("verification: the next round checks only new rows and rows that can change") {
  SmallLedger ledger;
  settle_many(ledger, 0, 200);
  Sliced sliced(ledger);
  const std::int64_t all = sliced.round().rows;
  const std::int64_t again = sliced.round().rows;
  CHECK(again < all / 5);
  settle_many(ledger, 200, 10);
  const std::int64_t some = sliced.round().rows;
  CHECK(some > again);
  CHECK(some < all / 5);
  CHECK(sliced.verification.position() == ledger.count("journal"));
  CHECK(sliced.verification.violations().empty());
}

TEST_CASE("verification: the cost is proportional to the number of payments") {
  SmallLedger ledger;
  settle_many(ledger, 0, 300);
  const std::int64_t few = steps_of_round(ledger);
  settle_many(ledger, 300, 900);
  const std::int64_t many = steps_of_round(ledger);
  INFO(few << " steps, then " << many);
  CHECK(many < 5 * few);
}

TEST_CASE("verification: a payment without events is found between others and at the end") {
  for (const char* which :
       {"(SELECT min(payment) + 40 FROM payments)", "(SELECT min(payment) FROM payments)",
        "(SELECT max(payment) FROM payments)"}) {
    INFO(which);
    SmallLedger ledger;
    settle_many(ledger, 0, 100);
    damage(ledger, std::string("DELETE FROM events WHERE payment = ") + which +
                       "; CREATE TABLE numbered AS SELECT tenant, sequence, row_number() OVER"
                       " (PARTITION BY tenant ORDER BY sequence) AS number FROM events;"
                       "UPDATE events SET sequence = sequence + 1000000; UPDATE events SET sequence"
                       " = (SELECT number FROM numbered n WHERE n.tenant = events.tenant"
                       " AND n.sequence = events.sequence - 1000000);"
                       "DROP TABLE numbered");
    Sliced sliced(ledger);
    sliced.round();
    CHECK(sliced.found("events_tell_all"));
    CHECK_FALSE(sliced.found("sequences_have_no_gap"));
  }
}

TEST_CASE("verification: writes between two slices cause no violation") {
  SmallLedger ledger;
  settle_many(ledger, 0, 70);
  Sliced sliced(ledger);
  int next = 70;
  for (int rounds = 0; rounds < 3; ++rounds) {
    int left = 150;  // so that a round ends
    sliced.round(1, [&] {
      if (left-- <= 0) return;
      ledger.pay(ledger.transfer("open" + std::to_string(next), 1));
      settle_many(ledger, next, 1);
      ++next;
    });
    for (const Violation& one : sliced.verification.violations()) {
      FAIL_CHECK(one.invariant << ": " << one.detail);
    }
  }
}

TEST_CASE("verification: an open payment is checked again once it is settled") {
  SmallLedger ledger;
  const std::int64_t open = ledger.pay(ledger.transfer("open", 50));
  settle_many(ledger, 0, 200);
  Sliced sliced(ledger);
  sliced.round();
  REQUIRE(sliced.verification.violations().empty());
  ledger
      .write([&](WriteTx& tx) -> Result<void> {
        ledger.settle(tx, open);
        return {};
      })
      .value();
  damage(ledger, "UPDATE holds SET amount = amount + 1 WHERE 0; UPDATE payments SET quote = NULL");
  damage(ledger,
         "PRAGMA ignore_check_constraints = ON;"
         " UPDATE payments SET settle_at = 1 WHERE payment = " +
             std::to_string(open));
  sliced.round();
  CHECK(sliced.found("work_is_queued"));
}

TEST_CASE("verification: balances are checked in every round") {
  SmallLedger ledger;
  settle_many(ledger, 0, 10);
  Sliced sliced(ledger);
  sliced.round();
  REQUIRE(sliced.verification.violations().empty());
  damage(ledger, "UPDATE accounts SET balance = balance + 1 WHERE account = 1");
  sliced.round();
  CHECK(sliced.found("balance_is_sum_of_entries"));
}

TEST_CASE(
    "verification: only the whole pass finds a fault in a checked row, and the finding stays") {
  SmallLedger ledger;
  settle_many(ledger, 0, 10);
  Sliced sliced(ledger);
  sliced.round();
  damage(ledger, "UPDATE journal SET at = at + 1 WHERE journal = 3");
  sliced.round();
  CHECK(sliced.verification.violations().empty());
  REQUIRE_FALSE(ledger.verify().empty());

  Sliced fresh(ledger);  // as after a restart
  for (int i = 0; i < 3; ++i) {
    fresh.round();
    CHECK(fresh.found("hash_chain"));
  }
}

TEST_CASE("verification: a guarded row that another program changed is found in every round") {
  SmallLedger ledger;
  settle_many(ledger, 0, 10);
  Sliced sliced(ledger);
  sliced.round();
  REQUIRE(sliced.verification.violations().empty());
  damage(ledger, "UPDATE wallets SET public_key = 'G' WHERE wallet = 2");
  for (int i = 0; i < 3; ++i) {
    sliced.round(1, [] {});
    CHECK(sliced.found("guarded_rows"));
  }
}

TEST_CASE("verification: no query of a slice reads a whole growing table") {
  const SmallLedger ledger;
  Connection db(ledger.database->path(), OpenMode::read_only);
  // Short tables: waiting work, and objects of operators. The others are temporary results of a
  // query.
  const std::set<std::string> allowed{"SCAN payments USING COVERING INDEX payments_to_settle",
                                      "SCAN provider_jobs",
                                      "SCAN s",
                                      "SCAN c",
                                      "SCAN j",
                                      "SCAN (subquery-1)",
                                      "SCAN moves",
                                      "SCAN m VIRTUAL TABLE INDEX 1:",  // the keys of one payment
                                      "SCAN w",
                                      "SCAN (subquery-3)",
                                      "SCAN (subquery-8)"};
  int explained = 0;
  for (const std::string& sql : slice_queries()) {
    Query plan(db, db.interned("EXPLAIN QUERY PLAN " + sql));
    while (plan.step()) {
      const std::string line = plan.text(3);
      const std::string table = line.substr(0, line.find(" USING"));
      ++explained;
      INFO(sql);
      INFO(line);
      CHECK((!line.starts_with("SCAN") || allowed.contains(table)));
      CHECK((line.find("AUTOMATIC") == std::string::npos || line.starts_with("SEARCH o")));
    }
  }
  CHECK(explained > 60);
}
