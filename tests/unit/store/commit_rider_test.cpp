#include "store/commit_rider.h"

#include <catch2/catch.hpp>

#include "base/thread.h"
#include "unit/store/ledger_fixture.h"

using namespace coffer;
using namespace coffer::store;
using namespace coffer::store::test;

namespace {

CommitQueue::Command put(const char* name) {
  return [name](WriteTx& tx) -> Result<void> {
    tx.db().run("INSERT INTO meta (name, value) VALUES (?, CAST('1' AS BLOB))", name);
    return {};
  };
}

std::string names(SmallLedger& ledger) {
  return ledger.value(
      "SELECT coalesce(group_concat(name), '') FROM (SELECT name FROM meta WHERE"
      " name LIKE 'x-%' ORDER BY name)");
}

}  // namespace

TEST_CASE("commit rider: the next command of the thread commits the change, once") {
  SmallLedger ledger;
  {
    CommitRider rider(put("x-rider"));
    CHECK_FALSE(rider.committed());
    CHECK(ledger.queue->run(put("x-first")));
    CHECK(rider.committed());
    CHECK(ledger.queue->run(put("x-second")));
  }
  CHECK(ledger.queue->run(put("x-third")));
  CHECK(names(ledger) == "x-first,x-rider,x-second,x-third");
}

TEST_CASE("commit rider: a rejected command undoes the change, and the next one commits it") {
  SmallLedger ledger;
  CommitRider rider(put("x-rider"));
  for (const auto mode : {CommitQueue::Mode::commit, CommitQueue::Mode::repeatable}) {
    CHECK_FALSE(ledger.queue->run(
        [&](WriteTx& tx) -> Result<void> {
          COFFER_TRY_VOID(put("x-rejected")(tx));
          return unexpected(Slug::conflict);
        },
        mode));
    CHECK_FALSE(rider.committed());
    CHECK(names(ledger).empty());
  }
  CHECK(ledger.queue->run(put("x-taken"), CommitQueue::Mode::repeatable));
  CHECK(rider.committed());
  CHECK(names(ledger) == "x-rider,x-taken");
}

TEST_CASE("commit rider: a rejected change undoes the command") {
  SmallLedger ledger;
  CommitRider rider([](WriteTx&) -> Result<void> { return unexpected(Slug::conflict); });
  const auto rejected = ledger.queue->run(put("x-first"));
  REQUIRE_FALSE(rejected);
  CHECK(rejected.error().slug == Slug::conflict);
  CHECK_FALSE(rider.committed());
  CHECK(names(ledger).empty());
}

TEST_CASE("commit rider: a change after the command sees what it wrote, and can undo it") {
  SmallLedger ledger;
  {
    bool seen = false;
    CommitRider rider(
        [&](WriteTx& tx) -> Result<void> {
          Query query(tx.db(), "SELECT 1 FROM meta WHERE name = 'x-first'");
          seen = query.step();
          return unexpected(Slug::conflict);
        },
        CommitRider::Runs::after);
    CHECK_FALSE(ledger.queue->run(put("x-first"), CommitQueue::Mode::repeatable));
    CHECK(seen);
    CHECK_FALSE(rider.committed());
  }
  CommitRider rider(put("x-rider"), CommitRider::Runs::after);
  CHECK(ledger.queue->run(put("x-second")));
  CHECK(rider.committed());
  CHECK(names(ledger) == "x-rider,x-second");
}

TEST_CASE("commit rider: dry runs and other threads do not commit the change") {
  SmallLedger ledger;
  CommitRider rider(put("x-rider"));
  CHECK(ledger.queue->run(put("x-dry"), CommitQueue::Mode::dry_run));
  bool stored = false;
  Thread other("other", [&] { stored = ledger.queue->run(put("x-other")).has_value(); });
  other.join();
  CHECK(stored);
  CHECK_FALSE(rider.committed());
  CHECK(names(ledger) == "x-other");
}
