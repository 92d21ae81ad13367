#include <catch2/catch.hpp>
#include <string>

#include "store/commit_queue.h"
#include "unit/store/busy_writer.h"
#include "unit/store/ledger_fixture.h"

using namespace coffer;
using namespace coffer::store;
using namespace coffer::store::test;

TEST_CASE("repeatable commands: a command runs twice only if its batch is undone") {
  SmallLedger ledger;
  int runs = 0;
  const auto counted = [&](WriteTx& tx) -> Result<void> {
    ++runs;
    ledger.settle(tx, ledger.accept(tx, ledger.transfer("counted", 100)));
    return {};
  };
  const auto rejected_first = [&](WriteTx& tx) -> Result<void> {
    tx.next_sequence(ledger.tenant.key);  // in memory only
    return unexpected(Slug::conflict);
  };
  const auto rejected_late = [&](WriteTx& tx) -> Result<void> {
    ledger.accept(tx, ledger.transfer("late", 5'000));
    return unexpected(Slug::conflict);
  };
  const auto mode = CommitQueue::Mode::repeatable;
  auto verdicts = run_in_one_batch(*ledger.queue, {rejected_first, counted}, {mode});
  CHECK_FALSE(verdicts[0]);
  CHECK(verdicts[1]);
  CHECK(runs == 1);
  const auto again = [&](WriteTx& tx) -> Result<void> {
    ++runs;
    ledger.settle(tx, ledger.accept(tx, ledger.transfer("again", 100)));
    return {};
  };
  verdicts = run_in_one_batch(*ledger.queue, {again, rejected_late}, {mode});
  CHECK(verdicts[0]);
  CHECK_FALSE(verdicts[1]);
  CHECK(runs == 3);
  CHECK(ledger.count("payments") == 2);
  CHECK(ledger.balance(ledger.first) == 10'000'000'000 - 200);
  CHECK(ledger.value("SELECT max(sequence) FROM events") == "6");
  CHECK(ledger.verify().empty());
}

TEST_CASE("repeatable commands: only their group is undone, not earlier commands") {
  SmallLedger ledger;
  const auto pay = [&](const char* id) {
    return [&ledger, id](WriteTx& tx) -> Result<void> {
      ledger.settle(tx, ledger.accept(tx, ledger.transfer(id, 100)));
      return {};
    };
  };
  const auto rejected_late = [&](WriteTx& tx) -> Result<void> {
    ledger.settle(tx, ledger.accept(tx, ledger.transfer("late", 5'000)));
    return unexpected(Slug::conflict);
  };
  constexpr auto once = CommitQueue::Mode::commit;
  constexpr auto twice = CommitQueue::Mode::repeatable;
  const auto verdicts = run_in_one_batch(
      *ledger.queue, {pay("a"), pay("b"), rejected_late, pay("c"), pay("d"), pay("e")},
      {once, twice, twice, twice, once, twice});
  for (std::size_t i = 0; i < verdicts.size(); ++i) CHECK(verdicts[i].has_value() == (i != 2));
  CHECK(ledger.count("payments") == 5);
  CHECK(ledger.value("SELECT group_concat(transaction_id, '') FROM payments") == "abcde");
  CHECK(ledger.balance(ledger.first) == 10'000'000'000 - 500);
  CHECK(ledger.value("SELECT max(sequence) FROM events") == "15");
  CHECK(ledger.verify().empty());
}
