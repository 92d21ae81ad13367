#include "store/commit_queue.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <functional>
#include <string>
#include <vector>

#include "base/fault.h"
#include "base/telemetry/metrics.h"
#include "base/thread.h"
#include "unit/store/busy_writer.h"
#include "unit/store/ledger_fixture.h"
#include "unit/store/notes.h"

using namespace coffer;
using namespace coffer::store;
using namespace coffer::store::test;

namespace {

#ifdef COFFER_FAULTS
struct Disarm {
  ~Disarm() { fault::arm(""); }
};
#endif

}  // namespace

TEST_CASE("commit queue: a command is on disk when run returns") {
  OpenedFile file;
  REQUIRE(file.write(note("note")));
  CHECK(notes(file) == 1);
  file.close();
  file.open();
  CHECK(notes(file) == 1);
}

TEST_CASE("commit queue: work between batches has the writer's connection, also after the stop") {
  OpenedFile file;
  int found = -1;
  bool is_open = true;
  const auto look = [&](Connection& db) {
    is_open = !db.autocommit();
    found = static_cast<int>(number(db, "SELECT count(*) FROM meta WHERE name LIKE 'note%'"));
  };
  file.queue->between_batches(look);
  CHECK(found == 0);
  CHECK_FALSE(is_open);
  REQUIRE(file.write(note("note")));
  file.queue->between_batches(look);
  CHECK(found == 1);
  file.queue->stop();
  found = -1;
  file.queue->between_batches(look);
  CHECK(found == 1);
}

TEST_CASE("commit queue: waiting commands share one commit") {
  OpenedFile file;
  const auto before = file.queue->stats().commits;
  std::vector<CommitQueue::Command> commands;
  for (int i = 0; i < 50; ++i) commands.push_back(note("note" + std::to_string(i)));
  for (const auto& verdict : run_in_one_batch(*file.queue, commands)) CHECK(verdict);
  CHECK(notes(file) == 50);
  CHECK(file.queue->stats().commits == before + 2);  // the blocking one, and theirs
  CHECK(file.queue->stats().queued == 0);
}

TEST_CASE("commit queue: a commit holds at most batch_max commands") {
  OpenedFile file({.batch_max = 20});
  const auto before = file.queue->stats().commits;
  std::vector<CommitQueue::Command> commands;
  for (int i = 0; i < 50; ++i) commands.push_back(note("note" + std::to_string(i)));
  for (const auto& verdict : run_in_one_batch(*file.queue, commands)) CHECK(verdict);
  CHECK(file.queue->stats().commits == before + 4);
}

TEST_CASE("commit queue: with many threads, every result is correct and every row stored once") {
  SmallLedger ledger;
  constexpr int kThreads = 12;
  constexpr int kEach = 25;
  std::vector<Thread> threads;
  std::atomic<int> accepted{0};
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back("caller", [&, t] {
      for (int i = 0; i < kEach; ++i) {
        const auto request =
            ledger.transfer(std::to_string(t) + "-" + std::to_string(i), 1'000 + i, t % 2 == 0);
        const auto verdict = ledger.write([&](WriteTx& tx) -> Result<void> {
          if (i % 5 == 4) return unexpected(Slug::conflict, "rejected on purpose");
          const std::int64_t key = ledger.accept(tx, request);
          if (i % 3 == 0) ledger.settle(tx, key);
          return {};
        });
        if (verdict) ++accepted;
      }
    });
  }
  for (Thread& thread : threads) thread.join();
  CHECK(accepted == kThreads * kEach * 4 / 5);
  CHECK(ledger.count("payments") == accepted);
  CHECK(ledger.verify().empty());
  const CommitStats stats = ledger.queue->stats();
  CHECK(stats.commands >= static_cast<std::uint64_t>(kThreads) * kEach);
  CHECK(stats.commits < stats.commands);  // commands shared commits
}

TEST_CASE("commit queue: a rejected command leaves no trace between others") {
  const auto mode = GENERATE(CommitQueue::Mode::commit, CommitQueue::Mode::repeatable);
  SmallLedger ledger;
  const auto reject = [&](WriteTx& tx) -> Result<void> {
    // Everything a command can touch: rows, balances, holds, event sequences, the chain.
    const std::int64_t key = ledger.accept(tx, ledger.transfer("rejected", 5'000));
    ledger.settle(tx, key);
    ledger.accept(tx, ledger.transfer("rejected-too", 7'000));
    return unexpected(Slug::insufficient_funds, "no");
  };
  const auto pay = [&](const char* id, bool settle) {
    return [&ledger, id, settle](WriteTx& tx) -> Result<void> {
      const std::int64_t key = ledger.accept(tx, ledger.transfer(id, 100));
      if (settle) ledger.settle(tx, key);
      return {};
    };
  };
  const auto verdicts = run_in_one_batch(
      *ledger.queue,
      {reject, pay("a", true), reject, reject, pay("b", true), pay("c", false), reject}, {mode});
  for (const std::size_t i : {0U, 2U, 3U, 6U}) {
    REQUIRE_FALSE(verdicts[i]);
    CHECK(Result<void>(verdicts[i]).error().slug == Slug::insufficient_funds);
    CHECK(Result<void>(verdicts[i]).error().detail == "no");
  }
  for (const std::size_t i : {1U, 4U, 5U}) CHECK(verdicts[i]);
  CHECK(ledger.count("payments") == 3);
  CHECK(ledger.balance(ledger.first) == 10'000'000'000 - 200);
  CHECK(ledger.balance(ledger.first, "held") == 100);
  CHECK(ledger.value("SELECT max(sequence) FROM events") == "7");
  CHECK(ledger.verify().empty());
}

TEST_CASE("commit queue: a command that only rejects makes no change at all") {
  SmallLedger ledger;
  const std::string head =
      ledger.value("SELECT hex(link) FROM journal ORDER BY journal DESC LIMIT 1");
  REQUIRE_FALSE(ledger.write([&](WriteTx& tx) -> Result<void> {
    ledger.settle(tx, ledger.accept(tx, ledger.transfer("x", 1)));
    return unexpected(Slug::conflict);
  }));
  CHECK(ledger.value("SELECT hex(link) FROM journal ORDER BY journal DESC LIMIT 1") == head);
  ledger.pay_and_settle(ledger.transfer("x", 1));
  CHECK(ledger.verify().empty());
}

TEST_CASE("commit queue: an exception of a command affects only that command") {
  const auto mode = GENERATE(CommitQueue::Mode::commit, CommitQueue::Mode::repeatable);
  SmallLedger ledger;
  CapturedLog log;
  const auto faulty = [&](WriteTx& tx) -> Result<void> {
    ledger.settle(tx, ledger.accept(tx, ledger.transfer("faulty", 5'000)));
    throw InternalError("secret internals");
  };
  const auto good = [&](WriteTx& tx) -> Result<void> {
    ledger.settle(tx, ledger.accept(tx, ledger.transfer("good", 100)));
    return {};
  };
  const auto verdicts = run_in_one_batch(*ledger.queue, {faulty, good, faulty}, {mode});
  CHECK(verdicts[1]);
  for (const std::size_t i : {0U, 2U}) {
    REQUIRE_FALSE(verdicts[i]);
    const Problem problem = Result<void>(verdicts[i]).error();
    CHECK(problem.slug == Slug::unexpected_error);
    CHECK(problem.detail.find("secret") == std::string::npos);
  }
  CHECK(log.has("secret internals"));
  CHECK(ledger.count("payments") == 1);
  CHECK(ledger.verify().empty());
}

TEST_CASE("commit queue: a violated constraint or an invalid statement affects only its command") {
  const auto mode = GENERATE(CommitQueue::Mode::commit, CommitQueue::Mode::repeatable);
  SmallLedger ledger;
  CapturedLog log;
  const auto twice = [&](WriteTx& tx) -> Result<void> {
    ledger.accept(tx, ledger.transfer("same", 1));
    ledger.accept(tx, ledger.transfer("same", 1));
    return {};
  };
  const auto overdraft = [&](WriteTx& tx) -> Result<void> {
    ledger.accept(tx, ledger.transfer("all", 10'000'000'001));
    return {};
  };
  const auto nonsense = [](WriteTx& tx) -> Result<void> {
    tx.db().execute("SELECT nothing FROM nowhere");
    return {};
  };
  const auto text_as_amount = [](WriteTx& tx) -> Result<void> {
    tx.db().execute("UPDATE accounts SET balance = '12abc'");
    return {};
  };
  const auto verdicts = run_in_one_batch(
      *ledger.queue, {twice, overdraft, note("note1"), nonsense, text_as_amount, note("note2")},
      {mode});
  for (const std::size_t i : {0U, 1U, 3U, 4U}) {
    REQUIRE_FALSE(verdicts[i]);
    CHECK(Result<void>(verdicts[i]).error().slug == Slug::unexpected_error);
  }
  CHECK(verdicts[2]);
  CHECK(verdicts[5]);
  CHECK(notes(ledger) == 2);
  CHECK(ledger.count("payments") == 0);
  CHECK(ledger.verify().empty());
}

TEST_CASE("commit queue: a command that makes the commit fail fails the whole batch") {
  const auto mode = GENERATE(CommitQueue::Mode::commit, CommitQueue::Mode::repeatable);
  SmallLedger ledger;
  CapturedLog log;
  // The account changes in memory and its row is deleted by SQL: the flush detects it.
  const auto sly = [&](WriteTx& tx) -> Result<void> {
    const AccountKey account = open_trustline(tx, ledger.tenant, ledger.first.key, ledger.eurc.key);
    tx.balances().set(account, {}, {});
    tx.db().execute("DELETE FROM accounts WHERE account = " + std::to_string(account));
    return {};
  };
  const auto pay = [&](WriteTx& tx) -> Result<void> {
    ledger.settle(tx, ledger.accept(tx, ledger.transfer("with it", 100)));
    return {};
  };
  const auto verdicts = run_in_one_batch(*ledger.queue, {pay, note("note1"), sly}, {mode});
  for (const auto& verdict : verdicts) {
    REQUIRE_FALSE(verdict);
    CHECK(Result<void>(verdict).error().slug == Slug::unexpected_error);
  }
  CHECK(notes(ledger) == 0);
  CHECK(ledger.count("payments") == 0);
  // Everything that the batch used (event numbers, links, balances) is free again.
  REQUIRE(ledger.write(pay));
  CHECK(ledger.value("SELECT max(sequence) FROM events") == "3");
  CHECK(ledger.balance(ledger.first) == 10'000'000'000 - 100);
  CHECK(ledger.verify().empty());
}

TEST_CASE("commit queue: an account of a rejected command is forgotten") {
  const auto mode = GENERATE(CommitQueue::Mode::commit, CommitQueue::Mode::repeatable);
  SmallLedger ledger;
  // SQLite gives the number of the rejected account to the next one, which has another asset.
  const auto opens = [&](const LedgerWallet& wallet, const Asset& asset, bool reject) {
    return [&, reject](WriteTx& tx) -> Result<void> {
      const AccountKey account = open_trustline(tx, ledger.tenant, wallet.key, asset.key);
      const AccountKey issuance =
          operator_account(tx, Environment::sandbox, AccountKind::issuance, asset.key);
      const Movement funding{{issuance, account, Amount::from_units(100)}, 0};
      post(tx, ledger.tenant.key, JournalKind::funding, {&funding, 1});
      if (reject) return unexpected(Slug::conflict);
      return {};
    };
  };
  const auto verdicts = run_in_one_batch(
      *ledger.queue,
      {opens(ledger.first, ledger.eurc, true), opens(ledger.third, ledger.usdc, false)}, {mode});
  CHECK_FALSE(verdicts[0]);
  CHECK(verdicts[1]);
  CHECK(ledger.verify().empty());
}

TEST_CASE("commit queue: a dry run returns its result and stores nothing") {
  SmallLedger ledger;
  const auto events = ledger.count("events");
  std::int64_t seen = 0;
  REQUIRE(ledger.write(
      [&](WriteTx& tx) -> Result<void> {
        ledger.settle(tx, ledger.accept(tx, ledger.transfer("dry", 100)));
        seen = tx.balances().get(ledger.first.account).balance.units();
        return {};
      },
      CommitQueue::Mode::dry_run));
  CHECK(seen == 10'000'000'000 - 100);
  const auto rejected =
      ledger.write([](WriteTx&) -> Result<void> { return unexpected(Slug::conflict); },
                   CommitQueue::Mode::dry_run);
  REQUIRE_FALSE(rejected);
  CHECK(Result<void>(rejected).error().slug == Slug::conflict);
  CHECK(ledger.count("payments") == 0);
  CHECK(ledger.count("events") == events);
  CHECK(ledger.balance(ledger.first) == 10'000'000'000);
  ledger.pay_and_settle(ledger.transfer("dry", 100));
  CHECK(ledger.verify().empty());
}

TEST_CASE("commit queue: a stop does not wait for another program beyond its time") {
  OpenedFile file;
  Connection other(file.database->path(), OpenMode::read_write);
  other.execute("BEGIN IMMEDIATE");
  file.queue->end_waits_after(0);
  const Stopwatch watch;
  const auto rejected = file.write(note("note-stop"));
  REQUIRE_FALSE(rejected);
  CHECK(Result<void>(rejected).error().slug == Slug::overloaded);
  CHECK(watch.elapsed_us() < kBusyWaitMs * 1'000 / 2);
  other.execute("ROLLBACK");
  CHECK(file.write(note("note-later")));
}

TEST_CASE(
    "commit queue: during a stop, no batch waits after another one that did so without a result") {
  OpenedFile file;
  Connection other(file.database->path(), OpenMode::read_write);
  other.execute("BEGIN IMMEDIATE");
  file.queue->end_waits_after(60'000);
  const Stopwatch watch;
  for (int i = 0; i < 4; ++i) {
    const auto rejected = file.write(note("note" + std::to_string(i)));
    REQUIRE_FALSE(rejected);
    CHECK(Result<void>(rejected).error().slug == Slug::overloaded);
  }
  CHECK(watch.elapsed_us() < kBusyWaitMs * 1'000 * 3 / 2);
  other.execute("ROLLBACK");
  CHECK(file.write(note("note-later")));  // what does not have to wait is stored
}

TEST_CASE("commit queue: a full queue rejects immediately, with Retry-After") {
  OpenedFile file({.queue_max = 4});
  std::vector<Result<void>> verdicts(4);
  std::vector<Thread> threads;
  BusyWriter busy(*file.queue);
  for (std::size_t i = 0; i < 4; ++i) {
    threads.emplace_back("caller",
                         [&, i] { verdicts[i] = file.write(note("note" + std::to_string(i))); });
  }
  busy.gathered(4);
  const auto shed = file.write(note("note-shed"));
  REQUIRE_FALSE(shed);
  CHECK(Result<void>(shed).error().slug == Slug::overloaded);
  CHECK(Result<void>(shed).error().retry_after_s.has_value());
  busy.open();
  for (Thread& thread : threads) thread.join();
  for (const auto& verdict : verdicts) CHECK(verdict);
  CHECK(notes(file) == 4);
  CHECK(file.write(note("note-later")));
}

TEST_CASE("commit queue: a stop runs waiting commands and accepts no new ones") {
  OpenedFile file;
  std::vector<Result<void>> verdicts(10);
  std::vector<Thread> threads;
  BusyWriter busy(*file.queue);
  for (std::size_t i = 0; i < verdicts.size(); ++i) {
    threads.emplace_back("caller",
                         [&, i] { verdicts[i] = file.write(note("note" + std::to_string(i))); });
  }
  busy.gathered(verdicts.size());
  Thread stopper("stopper", [&] { file.queue->stop(); });
  busy.open();
  for (Thread& thread : threads) thread.join();
  stopper.join();
  for (const auto& verdict : verdicts) CHECK(verdict);
  CHECK(notes(file) == 10);
  const auto rejected = file.write(note("note-later"));
  REQUIRE_FALSE(rejected);
  CHECK(Result<void>(rejected).error().slug == Slug::overloaded);
  CHECK(Result<void>(rejected).error().retry_after_s.has_value());
  file.queue->stop();  // a second stop has no effect
}

TEST_CASE("commit queue: a batch has one time, and times never decrease") {
  SmallLedger ledger;
  std::vector<std::int64_t> times;
  const auto look = [&](WriteTx& tx) -> Result<void> {
    times.push_back(tx.now().ms);
    ledger.clock.advance_ms(10);
    return {};
  };
  for (const auto& verdict : run_in_one_batch(*ledger.queue, {look, look})) REQUIRE(verdict);
  CHECK(times[0] == times[1]);
  ledger.clock.set_by_ms(-3'600'000);
  REQUIRE(ledger.write(look));
  CHECK(times[2] == times[1] + 20);  // exactly the time since then
  ledger.clock.set_by_ms(3'700'000);
  REQUIRE(ledger.write(look));
  CHECK(times[3] == times[2] + 100'010);
}

TEST_CASE("commit queue: only a commit wakes workers and removes cached identities") {
  SmallLedger ledger;
  ledger.signals = 0;
  const auto generation = ledger.database->tenancy_generation();
  const auto suspend = [&](WriteTx& tx) -> Result<void> {
    set_association_status(tx, ledger.tenant.association, AssociationStatus::suspended);
    return {};
  };
  REQUIRE(ledger.write(note("note")));
  CHECK(ledger.signals == 0);
  CHECK(ledger.database->tenancy_generation() == generation);
  ledger.pay(ledger.transfer("a", 1));
  CHECK(ledger.write(suspend));
  CHECK(ledger.database->tenancy_generation() == generation + 1);
  // Signals are sent after the waiters are released, but before the next command runs.
  REQUIRE(ledger.write(note("note")));
  CHECK(ledger.signals == 1U << static_cast<unsigned>(Signal::settlement));

  REQUIRE(ledger.write([](WriteTx& tx) -> Result<void> {
    for (const Signal signal : {Signal::webhooks, Signal::providers, Signal::notifications}) {
      tx.signal(signal);
    }
    return {};
  }));
  REQUIRE(ledger.write(note("note")));
  CHECK(ledger.signals == 0b1111U);  // every one there is
}

TEST_CASE("commit queue: the probe tests that the disk accepts a commit") {
  OpenedFile file;
  const auto commits = file.queue->stats().commits;
  file.clock.advance_ms(5'000);
  REQUIRE(file.queue->probe());
  CHECK(file.queue->stats().commits == commits + 1);
  CHECK(file.queue->stats().last_commit_ms == file.clock.monotonic_ms());
}

#ifdef COFFER_FAULTS

TEST_CASE("commit queue: the fault point for a full queue rejects") {
  const Disarm disarm;
  OpenedFile file;
  fault::arm("queue.full=fail");
  const auto rejected = file.write(note("note"));
  REQUIRE_FALSE(rejected);
  CHECK(Result<void>(rejected).error().slug == Slug::overloaded);
  CHECK(file.write(note("note")));
}

#endif
