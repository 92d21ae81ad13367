#include "store/identity/audit_log.h"

#include <catch2/catch.hpp>

#include "store/invariants.h"
#include "support/unguarded.h"
#include "unit/store/ledger_fixture.h"

using namespace coffer;
using namespace coffer::store;
using namespace coffer::store::test;

namespace {

/// Three audit entries, the second with a result.
struct Logged {
  SmallLedger ledger;
  Logged() {
    const auto done = ledger.queue->run([](WriteTx& tx) -> Result<void> {
      append_audit_entry(tx, {"ada", "wallet verify", R"({"ID":"1"})", std::nullopt});
      const auto second =
          append_audit_entry(tx, {"bob", "wallet reject", R"({"ID":"2"})", std::nullopt});
      append_audit_entry(tx, {"bob", "wallet reject", "", second, "done"});
      append_audit_entry(tx, {"ada", "operator add", "{}", std::nullopt});
      return {};
    });
    REQUIRE(done);
    ledger.close();
  }
};

}  // namespace

TEST_CASE("audit log: newest first, with results, filtered and paged") {
  Logged logged;
  Connection db(logged.ledger.folder.file(), OpenMode::read_only);
  const auto all = list_audit_entries(db, {}, {}).rows;
  REQUIRE(all.size() == 3);
  CHECK(all[0].command == "operator add");
  CHECK_FALSE(all[0].outcome);
  CHECK(all[1].actor == "bob");
  CHECK(all[1].outcome == "done");
  CHECK(list_audit_entries(db, {.actor = "ada"}, {}).rows.size() == 2);
  CHECK(list_audit_entries(db, {.command = "wallet reject"}, {}).rows.size() == 1);
  CHECK(list_audit_entries(db, {}, {.key = all[1].entry}).rows.size() == 1);
  CHECK(list_audit_entries(db, {}, {.limit = 1}).rows.size() == 1);
  use_keys(db, test_keys());
  CHECK(verify_audit_log(db).empty());
}

TEST_CASE("audit log: the schema rejects changes and deletions of entries") {
  Logged logged;
  Connection db(logged.ledger.folder.file(), OpenMode::read_write);
  CHECK_THROWS_AS(db.execute("UPDATE audit_log SET actor = 'eve' WHERE entry = 1"), SqlError);
  CHECK_THROWS_AS(db.execute("DELETE FROM audit_log WHERE entry = 4"), SqlError);
}

TEST_CASE("audit log: the chain reveals changes that bypass the schema") {
  for (const char* edit : {"UPDATE audit_log SET actor = 'eve' WHERE entry = 1",
                           "UPDATE audit_log SET at = at + 1 WHERE entry = 2",
                           "UPDATE audit_log SET command = 'x' WHERE entry = 4",
                           "UPDATE audit_log SET detail = '{}' WHERE entry = 1",
                           "UPDATE audit_log SET outcome = 'conflict' WHERE entry = 3",
                           "UPDATE audit_log SET outcome_of = 1 WHERE entry = 3",
                           "DELETE FROM audit_log WHERE entry = 1",
                           "UPDATE audit_log SET link = zeroblob(32) WHERE entry = 4"}) {
    INFO(edit);
    Logged logged;
    Connection db(logged.ledger.folder.file(), OpenMode::read_write);
    coffer::test::change_unguarded(db, edit);
    const auto found = keyed_verify(db, false);
    REQUIRE(found.size() == 1);
    CHECK(found[0].invariant == "audit_log");
  }
}
