// Free space on the disk of the database: what the commit queue rejects, and what it still does.
#include <catch2/catch.hpp>
#include <string>

#include "store/commit_queue.h"
#include "support/armed_fault.h"
#include "unit/store/busy_writer.h"
#include "unit/store/ledger_fixture.h"
#include "unit/store/notes.h"

using namespace coffer;
using namespace coffer::store;
using namespace coffer::store::test;

namespace full_disk_test {
TEST_CASE("full disk: below the free-space floor, writes are rejected and reads continue") {
  OpenedFile file({.disk_floor_bytes = ~0ULL});
  CapturedLog log;
  const auto rejected = file.write(note("note"));
  REQUIRE_FALSE(rejected);
  CHECK(Result<void>(rejected).error().slug == Slug::storage_full);
  CHECK(Result<void>(rejected).error().retry_after_s.has_value());
  CHECK(file.queue->stats().storage_full);
  CHECK(notes(file) == 0);
}

TEST_CASE("full disk: below the floor, only what changes a row is rejected") {
  OpenedFile file({.disk_floor_bytes = ~0ULL});
  CapturedLog log;
  REQUIRE(file.write(note("note"), CommitQueue::Mode::beyond_floor));
  std::string found;
  const auto look = [&](WriteTx& tx) -> Result<void> {
    found = read_meta(tx.db(), "note").value_or("none");
    return {};
  };
  const auto reject = [](WriteTx&) -> Result<void> { return unexpected(Slug::conflict); };
  const auto before = file.queue->stats().commits;
  const auto verdicts = run_in_one_batch(*file.queue, {note("note-more"), look, reject});
  CHECK(Result<void>(verdicts[0]).error().slug == Slug::storage_full);
  CHECK(verdicts[1]);
  CHECK(Result<void>(verdicts[2]).error().slug == Slug::conflict);
  CHECK(found == "x");
  CHECK(file.write(note("note-dry"), CommitQueue::Mode::dry_run));
  CHECK(file.queue->stats().storage_full);
  CHECK(file.queue->stats().commits == before);
  CHECK(notes(file) == 1);
}

TEST_CASE("full disk: an audit entry is stored beyond the floor, and nothing else") {
  OpenedFile file({.disk_floor_bytes = ~0ULL});
  CapturedLog log;
  CHECK_FALSE(file.write(note("before")));
  CHECK(file.write(note("note-entry"), CommitQueue::Mode::beyond_floor));
  CHECK(file.queue->stats().storage_full);
  CHECK_FALSE(file.write(note("after")));
  CHECK(notes(file) == 1);
}

TEST_CASE(
    "full disk: a full SQLite file rolls the batch back, and writing resumes when there is "
    "space") {
  SmallLedger ledger;
  CapturedLog log;
  const auto fill = [](WriteTx& tx) -> Result<void> {
    tx.db().execute("PRAGMA max_page_count = 1");  // the present size
    tx.db().execute("INSERT INTO meta VALUES ('note-large', zeroblob(3000000))");
    return {};
  };
  const auto reject = [](WriteTx&) -> Result<void> { return unexpected(Slug::conflict); };
  const auto verdicts =
      run_in_one_batch(*ledger.queue, {note("note1"), reject, fill, note("note2")});
  CHECK(Result<void>(verdicts[1]).error().slug == Slug::conflict);  // it had its own result
  for (const std::size_t i : {0U, 2U, 3U}) {
    REQUIRE_FALSE(verdicts[i]);
    CHECK(Result<void>(verdicts[i]).error().slug == Slug::storage_full);
  }
  CHECK(ledger.queue->stats().storage_full);
  CHECK(notes(ledger) == 0);
  bool full_meanwhile = false;
  REQUIRE(ledger.write([&](WriteTx& tx) -> Result<void> {
    full_meanwhile = ledger.queue->stats().storage_full;  // no write has succeeded yet
    tx.db().execute("PRAGMA max_page_count = 1000000");
    return {};
  }));
  CHECK(full_meanwhile);
  CHECK_FALSE(ledger.queue->stats().storage_full);
  REQUIRE(ledger.write(note("note3")));
  ledger.pay_and_settle(ledger.transfer("after", 1));
  CHECK(ledger.verify().empty());
}

#ifdef COFFER_FAULTS

TEST_CASE("full disk: a full disk rejects with storage-full and recovers automatically") {
  SmallLedger ledger;
  CapturedLog log;
  ledger.clock.advance_ms(1'000);
  {
    const coffer::test::ArmedFault fault("disk.full:0=fail");
    for (int i = 0; i < 3; ++i) {
      const auto rejected = ledger.write(note("note"));
      REQUIRE_FALSE(rejected);
      CHECK(Result<void>(rejected).error().slug == Slug::storage_full);
      CHECK(Result<void>(rejected).error().retry_after_s.has_value());
      CHECK(ledger.queue->stats().storage_full);
      CHECK(ledger.balance(ledger.first) == 10'000'000'000);  // reads continue
    }
  }
  // No time passes: the next write checks again.
  REQUIRE(ledger.write(note("note")));
  CHECK_FALSE(ledger.queue->stats().storage_full);
  CHECK(log.has("rejecting writes"));
  CHECK(log.has("accepting writes"));
}

#endif

}  // namespace full_disk_test
