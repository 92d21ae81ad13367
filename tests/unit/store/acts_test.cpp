#include "store/identity/acts.h"

#include <catch2/catch.hpp>

#include "ledger_fixture.h"
#include "store/invariants.h"

using namespace coffer;
using namespace coffer::store;
using namespace coffer::store::test;

namespace {

/// Three acts, the second one answered.
struct Logged {
  SmallLedger ledger;
  Logged() {
    const auto done = ledger.queue->run([](WriteTx& tx) -> Result<void> {
      append_act(tx, {"ada", "wallet verify", R"({"ID":"1"})", std::nullopt});
      const auto second = append_act(tx, {"bob", "wallet reject", R"({"ID":"2"})", std::nullopt});
      append_act(tx, {"bob", "wallet reject", "", second, "done"});
      append_act(tx, {"ada", "operator add", "{}", std::nullopt});
      return {};
    });
    REQUIRE(done);
    ledger.close();
  }
};

}  // namespace

TEST_CASE("acts: newest first, with what came of them, filtered and paged") {
  Logged logged;
  Connection db(logged.ledger.folder.file(), OpenMode::read_only);
  const auto all = list_acts(db, {}).rows;
  REQUIRE(all.size() == 3);
  CHECK(all[0].command == "operator add");
  CHECK_FALSE(all[0].outcome);
  CHECK(all[1].actor == "bob");
  CHECK(all[1].outcome == "done");
  CHECK(list_acts(db, {.actor = "ada"}).rows.size() == 2);
  CHECK(list_acts(db, {.command = "wallet reject"}).rows.size() == 1);
  CHECK(list_acts(db, {.before = all[1].act}).rows.size() == 1);
  CHECK(list_acts(db, {.limit = 1}).rows.size() == 1);
  CHECK(verify_acts(db).empty());
}

TEST_CASE("acts: the schema refuses to change or delete one") {
  Logged logged;
  Connection db(logged.ledger.folder.file(), OpenMode::read_write);
  CHECK_THROWS_AS(db.execute("UPDATE acts SET actor = 'eve' WHERE act = 1"), SqlError);
  CHECK_THROWS_AS(db.execute("DELETE FROM acts WHERE act = 4"), SqlError);
}

TEST_CASE("acts: who goes round the schema is found by the chain") {
  for (const char* edit :
       {"UPDATE acts SET actor = 'eve' WHERE act = 1", "UPDATE acts SET at = at + 1 WHERE act = 2",
        "UPDATE acts SET command = 'x' WHERE act = 4",
        "UPDATE acts SET detail = '{}' WHERE act = 1",
        "UPDATE acts SET outcome = 'conflict' WHERE act = 3",
        "UPDATE acts SET outcome_of = 1 WHERE act = 3", "DELETE FROM acts WHERE act = 1",
        "UPDATE acts SET link = zeroblob(32) WHERE act = 4"}) {
    INFO(edit);
    Logged logged;
    Connection db(logged.ledger.folder.file(), OpenMode::read_write);
    db.execute("PRAGMA foreign_keys=OFF");
    db.execute("DROP TRIGGER acts_are_not_changed");
    db.execute("DROP TRIGGER acts_are_not_deleted");
    db.execute(edit);
    const auto found = verify(db, false, [](auto&&...) {});
    REQUIRE(found.size() == 1);
    CHECK(found[0].invariant == "audit_log");
  }
}
