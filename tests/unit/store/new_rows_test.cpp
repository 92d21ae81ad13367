#include <catch2/catch.hpp>
#include <string>

#include "store/commit_queue.h"
#include "unit/store/busy_writer.h"
#include "unit/store/ledger_fixture.h"

using namespace coffer;
using namespace coffer::store;
using namespace coffer::store::test;

namespace {

constexpr auto kRepeatable = CommitQueue::Mode::repeatable;

/// A command that settles one payment, then returns what `then` returns.
CommitQueue::Command pays(
    SmallLedger& ledger, const char* id,
    CommitQueue::Command then = [](WriteTx&) { return Result<void>(); }) {
  return [&ledger, id, then](WriteTx& tx) -> Result<void> {
    ledger.settle(tx, ledger.accept(tx, ledger.transfer(id, 100)));
    return then(tx);
  };
}

/// Adds an event whose payment does not exist, which the database rejects when it is written.
Result<void> add_foreign_event(SmallLedger& ledger, WriteTx& tx) {
  tx.new_rows().events.add(
      ledger.tenant.key, tx.next_sequence(ledger.tenant.key), EventType::payment_initiated,
      std::int64_t{999'999}, std::optional<std::int64_t>(), std::optional<std::int64_t>(),
      std::optional<std::int64_t>(), std::optional<std::int64_t>(), 1, false, tx.now());
  return {};
}

}  // namespace

TEST_CASE("new rows: a statement that uses their table sees them") {
  SmallLedger ledger;
  std::string events, entries;
  const auto verdicts = run_in_one_batch(
      *ledger.queue,
      {pays(ledger, "a"), pays(ledger, "b",
                               [&](WriteTx& tx) -> Result<void> {
                                 CHECK(tx.new_rows().size() == 2 * (1 + 2 + 3));
                                 CHECK(scalar(tx.db(), "SELECT count(*) FROM accounts") != "0");
                                 CHECK(tx.new_rows().size() == 2 * (1 + 2 + 3));
                                 events = scalar(tx.db(), "SELECT count(*) FROM events");
                                 CHECK(tx.new_rows().size() == 0);
                                 entries = scalar(tx.db(),
                                                  "SELECT count(*) FROM entries e JOIN journal j"
                                                  " ON j.journal = e.entry / 1024"
                                                  " WHERE j.payment IS NOT NULL");
                                 return {};
                               })},
      {kRepeatable});
  for (const auto& verdict : verdicts) CHECK(verdict);
  CHECK(events == "6");
  CHECK(entries == "4");
  CHECK(ledger.verify().empty());
}

TEST_CASE("new rows: a row that the database rejects fails only its command") {
  SmallLedger ledger;
  CapturedLog log;
  for (const auto mode : {kRepeatable, CommitQueue::Mode::commit}) {
    const std::string number = mode == kRepeatable ? "1" : "2";
    const std::string first = "first" + number, bad = "bad" + number, last = "last" + number;
    const auto verdicts = run_in_one_batch(
        *ledger.queue,
        {pays(ledger, first.c_str()),
         pays(ledger, bad.c_str(), [&](WriteTx& tx) { return add_foreign_event(ledger, tx); }),
         pays(ledger, last.c_str())},
        {mode});
    CHECK(verdicts[0]);
    REQUIRE_FALSE(verdicts[1]);
    CHECK(verdicts[1].error().slug == Slug::unexpected_error);
    CHECK(verdicts[2]);
  }
  CHECK(log.has("FOREIGN KEY constraint failed"));
  CHECK(ledger.value("SELECT group_concat(transaction_id) FROM payments") ==
        "first1,first2,last1,last2");
  CHECK(ledger.value("SELECT max(sequence) FROM events") == "12");
  CHECK(ledger.verify().empty());
}

TEST_CASE("new rows: those of a rejected command and of a dry run are not stored") {
  SmallLedger ledger;
  const auto rejected = [](WriteTx&) -> Result<void> { return unexpected(Slug::conflict); };
  const auto verdicts = run_in_one_batch(
      *ledger.queue, {pays(ledger, "a"), pays(ledger, "b", rejected), pays(ledger, "c")},
      {kRepeatable, kRepeatable, CommitQueue::Mode::dry_run});
  CHECK(verdicts[0]);
  CHECK_FALSE(verdicts[1]);
  CHECK(verdicts[2]);
  CHECK(ledger.value("SELECT group_concat(transaction_id) FROM payments") == "a");
  CHECK(ledger.value("SELECT count(*) FROM events") == "3");
  CHECK(ledger.verify().empty());
}
