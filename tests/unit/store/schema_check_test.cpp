// The schema of a file against the one that this version creates.
#include "store/schema_check.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "store/operations/verification.h"
#include "store/schema.h"
#include "unit/store/ledger_fixture.h"

using namespace coffer;
using namespace coffer::store;
using namespace coffer::store::test;

namespace schema_check_test {
namespace {

struct Edit {
  std::string sql;
  std::string finding;
  std::string repair = {};  // if there is one without a loss
};

const std::vector<Edit> kEdits{
    {"DROP TRIGGER journal_is_final", "trigger journal_is_final is missing"},
    {"DROP INDEX accounts_of_wallet", "index accounts_of_wallet is missing"},
    {"DROP TABLE messages", "table messages is missing"},
    {"CREATE VIEW planted AS SELECT 1", "view planted does not belong", "DROP VIEW planted"},
    {"CREATE TABLE planted (x)", "table planted does not belong", "DROP TABLE planted"},
    {"CREATE INDEX planted ON payments (id)", "index planted does not belong",
     "DROP INDEX planted"},
    {"CREATE TRIGGER planted AFTER INSERT ON payments BEGIN"
     " UPDATE applications SET api_key_hash = zeroblob(32); END",
     "trigger planted does not belong"},
    {"ALTER TABLE users ADD COLUMN planted TEXT", "table users differs"},
    {"DROP TRIGGER entries_are_kept; CREATE TRIGGER entries_are_kept BEFORE DELETE ON entries"
     " BEGIN SELECT 1; END",
     "trigger entries_are_kept differs"},
    // The same text on another table.
    {"DROP INDEX webhooks_by_tenant; CREATE INDEX webhooks_by_tenant ON wallets (tenant)",
     "index webhooks_by_tenant differs"},
};

}  // namespace

TEST_CASE("schema check: a new file has no difference, even after writes") {
  SmallLedger ledger;
  ledger.pay_and_settle(ledger.transfer("a", 1));
  Connection db(ledger.folder.file(), OpenMode::read_only);
  CHECK(schema_differences(db).empty());
  CHECK(schema_fault(db).empty());
}

TEST_CASE("schema check: each missing, different or foreign object is named") {
  for (const Edit& edit : kEdits) {
    INFO(edit.sql);
    SmallLedger ledger;
    ledger.close();
    {
      Connection db(ledger.folder.file(), OpenMode::read_write);
      db.execute("PRAGMA foreign_keys = OFF");
      db.execute(edit.sql);
      const auto found = schema_differences(db);
      CHECK(std::count(found.begin(), found.end(), edit.finding) == 1);
      const auto violations = verify(db, false, [](auto&&...) {});
      REQUIRE_FALSE(violations.empty());
      CHECK(violations.front().invariant == "schema");
      CHECK(violations.front().detail.find(edit.finding) != std::string::npos);
    }
    CHECK(read_file_marks(ledger.folder.file())->schema_fault.find(edit.finding) !=
          std::string::npos);
    OpenError error;
    DatabaseOptions options;
    options.path = ledger.folder.file();
    CHECK(Database::open(options, ledger.clock, error) == nullptr);
    CHECK(error.fault == OpenFault::corrupt);
    CHECK(error.message.find(edit.finding) != std::string::npos);
    CHECK(error.message.find(edit.repair.empty() ? "restore a backup" : edit.repair) !=
          std::string::npos);
  }
}

TEST_CASE("schema check: tables of Litestream and of ANALYZE belong, and statistics do not stay") {
  SmallLedger ledger;
  ledger.pay_and_settle(ledger.transfer("a", 1));
  {
    Connection db(ledger.folder.file(), OpenMode::read_write);
    db.execute(
        "ANALYZE;"
        "CREATE TABLE IF NOT EXISTS _litestream_seq (id INTEGER PRIMARY KEY, seq INTEGER);"
        "CREATE TABLE IF NOT EXISTS _litestream_lock (id INTEGER);"
        "INSERT INTO _litestream_seq (id, seq) VALUES (1, 1)"
        " ON CONFLICT (id) DO UPDATE SET seq = seq + 1");
    CHECK(number(db, "SELECT count(*) FROM sqlite_stat1") > 0);
    CHECK(schema_fault(db).empty());
    CHECK(verify(db, false, [](auto&&...) {}).empty());
  }
  ledger.pay_and_settle(ledger.transfer("b", 1));
  ledger.close();
  OpenError error;
  DatabaseOptions options;
  options.path = ledger.folder.file();
  CHECK(Database::open(options, ledger.clock, error));
  INFO(error.message);
  CHECK(error.fault == OpenFault::none);
  Connection db(ledger.folder.file(), OpenMode::read_only);
  CHECK(number(db, "SELECT count(*) FROM sqlite_schema WHERE name GLOB 'sqlite_stat*'") == 0);
  CHECK(number(db, "SELECT seq FROM _litestream_seq") == 1);
}

TEST_CASE(
    "schema check: the table that AUTOINCREMENT leaves belongs, because it cannot be dropped") {
  SmallLedger ledger;
  ledger.close();
  {
    Connection db(ledger.folder.file(), OpenMode::read_write);
    db.execute("CREATE TABLE other (id INTEGER PRIMARY KEY AUTOINCREMENT)");
    CHECK(schema_repair(db) == "DROP TABLE other");
    db.execute(schema_repair(db));
    CHECK(number(db, "SELECT count(*) FROM sqlite_schema WHERE name = 'sqlite_sequence'") == 1);
    CHECK(schema_fault(db).empty());
  }
  OpenError error;
  DatabaseOptions options;
  options.path = ledger.folder.file();
  CHECK(Database::open(options, ledger.clock, error));
  CHECK(error.message.empty());
}

TEST_CASE("schema check: a table is known by its name and its statement, and only as a table") {
  for (const char* sql :
       {"CREATE TABLE _litestream_seq (id INTEGER PRIMARY KEY, seq INTEGER, planted TEXT)",
        "CREATE VIEW _litestream_lock AS SELECT 1 AS id",
        "CREATE TABLE _litestream_lock (id INTEGER);"
        "CREATE TRIGGER planted AFTER INSERT ON _litestream_lock BEGIN SELECT 1; END",
        "CREATE TABLE _litestream_other (id INTEGER)"}) {
    INFO(sql);
    SmallLedger ledger;
    Connection db(ledger.folder.file(), OpenMode::read_write);
    db.execute(sql);
    CHECK(schema_differences(db).size() == 1);
  }
}

TEST_CASE("schema check: a trigger that is planted while the file is served is found in slices") {
  SmallLedger ledger;
  Connection(ledger.folder.file(), OpenMode::read_write)
      .execute("CREATE TRIGGER planted AFTER INSERT ON payments BEGIN SELECT 1; END");
  Verification slices;
  ledger.read([&](Connection& db) {
    while (!slices.slice(db, 1'000, 1'000).round_over) {
    }
    return 0;
  });
  REQUIRE(slices.violations().size() == 1);
  CHECK(slices.violations().front().detail == "trigger planted does not belong");
}

TEST_CASE("schema check: layout and comments are ignored, but texts are compared") {
  Connection db(":memory:", OpenMode::read_write);
  db.execute("CREATE TABLE a (x TEXT  CHECK (x <> 'a  b'), -- a comment\n  y);");
  CHECK(schema_differences(db, "CREATE TABLE a(\n x TEXT CHECK(x<>'a  b'),y)").empty());
  CHECK(schema_differences(db, "CREATE TABLE a(x TEXT CHECK(x<>'a b'),y)").size() == 1);
  CHECK(schema_differences(db, "CREATE TABLE a(x TEXT CHECK(x<>'a  b'),y z)").size() == 1);
}

}  // namespace schema_check_test
