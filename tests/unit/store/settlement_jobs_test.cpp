// The rows that make settlement crash-safe: its jobs, and the permitted changes of a record.
#include <catch2/catch.hpp>

#include "store/payments/open_payments.h"
#include "unit/store/ledger_fixture.h"

using namespace coffer;
using namespace coffer::store;
using namespace coffer::store::test;

namespace settlement_jobs_test {
namespace {

template <class F>
bool is_bug(SmallLedger& ledger, F&& action) {
  CapturedLog log;
  const auto verdict = ledger.write([&](WriteTx& tx) -> Result<void> {
    action(tx);
    return {};
  });
  return !verdict && Result<void>(verdict).error().slug == Slug::unexpected_error;
}

}  // namespace

TEST_CASE("settlement jobs: due jobs are read oldest first, up to the limit") {
  SmallLedger ledger;
  std::vector<std::int64_t> keys;
  for (int i = 0; i < 3; ++i) {
    keys.push_back(ledger.pay(ledger.transfer("p" + std::to_string(i), 1)));
    ledger.clock.advance_ms(1'000);
  }
  const Timestamp first = ledger.clock.now().plus_ms(-3'000);
  ledger.read([&](Connection& db) {
    CHECK(next_settlement_due(db) == first);
    CHECK(due_settlements(db, first.plus_ms(-1), 10).empty());
    const auto all = due_settlements(db, ledger.clock.now(), 10);
    REQUIRE(all.size() == 3);
    for (std::size_t i = 0; i < 3; ++i) CHECK(all[i].payment == keys[i]);
    CHECK(due_settlements(db, ledger.clock.now(), 2).size() == 2);
    CHECK(due_settlements(db, first, 10).size() == 1);
    CHECK(job_of(db, keys[1])->due_at == first.plus_ms(1'000));
    CHECK(settlement_view(db, keys[0]).settle_at == all[0].due_at);
    return 0;
  });
}

TEST_CASE("settlement jobs: a job is removed with its settlement and cannot be settled again") {
  SmallLedger ledger;
  const std::int64_t key = ledger.pay_and_settle(ledger.transfer("a", 1));
  ledger.read([&](Connection& db) {
    CHECK_FALSE(job_of(db, key));
    CHECK_FALSE(settlement_view(db, key).settle_at);
    CHECK_FALSE(next_settlement_due(db));
    return 0;
  });
  // A complete payment cannot get a job: the file rejects it.
  CHECK(is_bug(ledger, [&](WriteTx& tx) { schedule_settlement(tx, {tx.now(), key}); }));
}

TEST_CASE("settlement jobs: a failing job is postponed, longer each time, and never lost") {
  SmallLedger ledger;
  const std::int64_t key = ledger.pay(ledger.transfer("a", 1));
  std::vector<std::int64_t> delays;
  for (int i = 0; i < 13; ++i) {
    const auto job = ledger.read([&](Connection& db) { return *job_of(db, key); });
    ledger.clock.advance_ms(job.due_at.ms - ledger.clock.now().ms);
    REQUIRE(ledger.write([&](WriteTx& tx) -> Result<void> {
      postpone_settlement(tx, job);
      return {};
    }));
    delays.push_back(ledger.read([&](Connection& db) { return job_of(db, key)->due_at.ms; }) -
                     ledger.clock.now().ms);
  }
  CHECK(delays[0] == 1'000);
  CHECK(delays[1] == 2'000);
  CHECK(delays[9] == 512'000);
  CHECK(delays[10] == 1'024'000);
  CHECK(delays[12] == 1'024'000);  // the delay has a maximum
}

TEST_CASE(
    "settlement jobs: a record's status follows the transition table, with its time and version") {
  SmallLedger ledger;
  const std::int64_t key = ledger.pay(ledger.transfer("a", 1));
  ledger.clock.advance_ms(50);
  REQUIRE(ledger.write([&](WriteTx& tx) -> Result<void> {
    ledger.settle(tx, key);
    return {};
  }));
  const auto record = ledger.read([&](Connection& db) { return *find_payment_by_key(db, key); });
  CHECK(record.status == PaymentStatus::succeeded);
  CHECK(record.version == 3);
  CHECK(record.created_at.ms + 50 == record.updated_at.ms);
  CHECK(record.completed_at == record.updated_at);
  CHECK(record.processing_at == record.updated_at);
  CHECK_FALSE(record.refund_pending_at);
  CHECK(record.ledger_hash->size() == 32);
  CHECK_FALSE(record.failure);
}

TEST_CASE("settlement jobs: a change that the table forbids, or from a stale view, is a bug") {
  SmallLedger ledger;
  const std::int64_t done = ledger.pay_and_settle(ledger.transfer("a", 1));
  const std::int64_t open = ledger.pay(ledger.transfer("b", 1));
  CHECK(is_bug(ledger, [&](WriteTx& tx) {
    auto view = settlement_view(tx.db(), done);
    change_status(tx, view, {PaymentStatus::expired, FailureCode::expired, {}, {}});
  }));
  CHECK(is_bug(ledger, [&](WriteTx& tx) {
    auto view = settlement_view(tx.db(), open);
    auto stale = view;
    change_status(tx, view, {PaymentStatus::processing, {}, {}, {}});
    change_status(tx, stale, {PaymentStatus::processing, {}, {}, {}});
  }));
  // The schema rejects a failure without a reason, and a success with one.
  CHECK(is_bug(ledger, [&](WriteTx& tx) {
    auto view = settlement_view(tx.db(), open);
    change_status(tx, view, {PaymentStatus::failed, {}, {}, {}});
  }));
  CHECK(is_bug(ledger, [&](WriteTx& tx) { static_cast<void>(settlement_view(tx.db(), 999)); }));
  CHECK(ledger.verify().empty());
}

TEST_CASE("settlement jobs: an accepted payment is in memory until it changes or is due later") {
  SmallLedger ledger;
  const std::int64_t key = ledger.pay(ledger.transfer("a", 1));
  const std::int64_t postponed = ledger.pay(ledger.transfer("b", 1));
  const auto take = [&](std::int64_t payment) {
    return run_for<bool>(*ledger.queue,
                         [&](WriteTx& tx) -> Result<bool> {
                           const auto job = job_of(tx.db(), payment);
                           return job && tx.open_payments().take(*job).has_value();
                         })
        .value();
  };
  REQUIRE(ledger.write([&](WriteTx& tx) -> Result<void> {
    postpone_settlement(tx, *job_of(tx.db(), postponed));
    return {};
  }));
  CHECK_FALSE(take(postponed));
  CHECK(take(key));
  CHECK_FALSE(take(key));
  // A rolled back acceptance leaves nothing for the next payment with its number.
  const auto refused = ledger.write([&](WriteTx& tx) -> Result<void> {
    ledger.accept(tx, ledger.transfer("c", 1));
    return unexpected(Slug::malformed_request, "refused");
  });
  CHECK_FALSE(refused);
  CHECK(ledger.pay(ledger.transfer("d", 2)) == postponed + 1);
  CHECK(ledger.write([&](WriteTx& tx) -> Result<void> {
    const auto view = tx.open_payments().take(*job_of(tx.db(), postponed + 1));
    CHECK((view && view->amounts.front().units() == 2));
    return {};
  }));
}

}  // namespace settlement_jobs_test
