#include "store/file/connection.h"

#include <sqlite3.h>

#include <catch2/catch.hpp>
#include <limits>

#include "unit/store/ledger_fixture.h"

using namespace coffer;
using namespace coffer::store;
using namespace coffer::store::test;

namespace {

struct Memory {
  Memory() { db.execute("CREATE TABLE t (i INTEGER, s TEXT, b BLOB) STRICT"); }
  Connection db{":memory:", OpenMode::read_write};
};

constexpr const char* kInsert = "INSERT INTO t VALUES (?, ?, ?)";
constexpr const char* kSelect = "SELECT i, s, b FROM t";

}  // namespace

TEST_CASE("connection: values are read as they were written") {
  Memory memory;
  const std::string text("a\0b'\"; DROP TABLE t; --é", 25);
  const std::int64_t least = std::numeric_limits<std::int64_t>::min();
  Query(memory.db, kInsert, least, text, Blob{text}).run();
  Query query(memory.db, kSelect);
  REQUIRE(query.step());
  CHECK(query.integer(0) == least);
  CHECK(query.text(1) == text);
  CHECK(query.blob(2) == text);
  CHECK_FALSE(query.step());
}

TEST_CASE("connection: empty and absent values differ") {
  Memory memory;
  const std::optional<std::string> none;
  Query(memory.db, kInsert, std::optional<std::int64_t>(), "", Blob{""}).run();
  Query(memory.db, kInsert, 1, none, Blob{"x"}).run();
  Query query(memory.db, kSelect);
  REQUIRE(query.step());
  CHECK_FALSE(query.optional_integer(0));
  CHECK(query.optional_text(1) == "");
  CHECK(query.blob(2).empty());
  REQUIRE(query.step());
  CHECK_FALSE(query.optional_text(1));
}

TEST_CASE("connection: a stored value that is not an ID or an asset code is an error") {
  Memory memory;
  Query(memory.db, kInsert, 1, "-1", Blob{"short"}).run();
  Query query(memory.db, kSelect);
  REQUIRE(query.step());
  CHECK_THROWS_AS(query.asset_code(1), InternalError);
  CHECK_THROWS_AS(query.uuid(2), InternalError);
}

TEST_CASE("connection: no value of one execution reaches the next") {
  Memory memory;
  Query(memory.db, kInsert, 1, "secret", Blob{"x"}).run();
  Query(memory.db, kInsert).run();
  Query count(memory.db, "SELECT count(*) FROM t WHERE s IS NULL");
  REQUIRE(count.step());
  CHECK(count.integer(0) == 1);
}

TEST_CASE("connection: an abandoned query can be run again") {
  Memory memory;
  for (int i = 0; i < 3; ++i) Query(memory.db, kInsert, i, "s", Blob{"b"}).run();
  for (int i = 0; i < 2; ++i) {
    Query query(memory.db, kSelect);
    REQUIRE(query.step());
    CHECK(query.integer(0) == 0);
  }
}

TEST_CASE("connection: errors carry SQLite's codes") {
  Memory memory;
  memory.db.execute("CREATE UNIQUE INDEX u ON t (i)");
  Query(memory.db, kInsert, 1, "s", Blob{"b"}).run();
  try {
    Query(memory.db, kInsert, 1, "s", Blob{"b"}).run();
    FAIL("the second row went in");
  } catch (const SqlError& error) {
    CHECK(error.primary_code == SQLITE_CONSTRAINT);
    CHECK(error.extended_code == SQLITE_CONSTRAINT_UNIQUE);
  }
  // The statement is usable after its failure.
  Query(memory.db, kInsert, 2, "s", Blob{"b"}).run();
  CHECK(number(memory.db, "SELECT count(*) FROM t") == 2);
}

TEST_CASE("connection: SQLite is the pinned one, not that of the system") {
  CHECK(sqlite_version() == SQLITE_VERSION);
  CHECK(sqlite_version_number() == SQLITE_VERSION_NUMBER);
}

TEST_CASE("connection: texts of any kind are bound whole and without what follows") {
  Memory memory;
  const std::string text("ab\0cd", 5);
  memory.db.run(kInsert, 1, text, Blob{text});
  memory.db.run(kInsert, 2, std::string_view(text).substr(0, 4), Blob{""});
  memory.db.run(kInsert, 3, "", Blob{text});
  Query query(memory.db, kSelect);
  for (const std::string& wanted : {text, text.substr(0, 4), std::string()}) {
    REQUIRE(query.step());
    CHECK(query.optional_text(1) == wanted);
  }
}

TEST_CASE("transaction: it is undone unless it is committed") {
  Memory memory;
  const auto rows = [&] { return number(memory.db, "SELECT count(*) FROM t"); };
  {
    Transaction undone(memory.db);
    memory.db.run(kInsert);
    CHECK_FALSE(memory.db.autocommit());
  }
  CHECK(rows() == 0);
  Transaction rolled_back(memory.db);
  memory.db.run(kInsert);
  rolled_back.roll_back();
  CHECK(memory.db.autocommit());
  CHECK(rows() == 0);
  Transaction committed(memory.db);
  memory.db.run(kInsert);
  committed.commit();
  CHECK(rows() == 1);
}

TEST_CASE("transaction: an error of COMMIT has SQLite's codes, and the transaction is still open") {
  Memory memory;
  memory.db.execute(
      "PRAGMA foreign_keys = ON; CREATE TABLE child (t INTEGER REFERENCES t2 (k) DEFERRABLE"
      " INITIALLY DEFERRED) STRICT; CREATE TABLE t2 (k INTEGER PRIMARY KEY) STRICT");
  Transaction transaction(memory.db);
  memory.db.execute("INSERT INTO child VALUES (7)");
  try {
    transaction.commit();
    FAIL("the row without a parent was committed");
  } catch (const SqlError& error) {
    CHECK(error.primary_code == SQLITE_CONSTRAINT);
    CHECK(error.extended_code == SQLITE_CONSTRAINT_FOREIGNKEY);
  }
  CHECK_FALSE(memory.db.autocommit());
  transaction.roll_back();
  CHECK(memory.db.autocommit());
  CHECK(number(memory.db, "SELECT count(*) FROM child") == 0);
}

TEST_CASE("transaction: one that SQLite has ended can be rolled back") {
  Memory memory;
  memory.db.execute("CREATE UNIQUE INDEX u ON t (i)");
  Transaction transaction(memory.db);
  memory.db.run(kInsert, 1);
  CHECK_THROWS_AS(memory.db.execute("INSERT OR ROLLBACK INTO t VALUES (1, '', x'')"), SqlError);
  CHECK(memory.db.autocommit());
  transaction.roll_back();
  CHECK(number(memory.db, "SELECT count(*) FROM t") == 0);
}

TEST_CASE("transaction: a rollback that leaves the transaction open is an error") {
  Memory memory;
  Transaction transaction(memory.db);
  // SQLite refuses to undo a transaction only through its authorizer.
  sqlite3_set_authorizer(
      memory.db.handle(),
      [](void*, int action, const char*, const char*, const char*, const char*) {
        return action == SQLITE_TRANSACTION ? SQLITE_DENY : SQLITE_OK;
      },
      nullptr);
  CHECK_THROWS_AS(transaction.roll_back(), SqlError);
  sqlite3_set_authorizer(memory.db.handle(), nullptr, nullptr);
  memory.db.execute("ROLLBACK");
}

TEST_CASE("connection: an attached object is found by its type and replaced") {
  struct One {
    int number;
  };
  struct Other {};
  Memory memory;
  CHECK(memory.db.attached<One>() == nullptr);
  memory.db.attach(std::make_unique<One>(One{1}));
  memory.db.attach(std::make_unique<One>(One{2}));
  REQUIRE(memory.db.attached<One>() != nullptr);
  CHECK(memory.db.attached<One>()->number == 2);
  CHECK(memory.db.attached<Other>() == nullptr);
  memory.db.attach(std::unique_ptr<One>());
  CHECK(memory.db.attached<One>() == nullptr);
}

TEST_CASE("connection: a STRICT table takes no text for a number") {
  Memory memory;
  CHECK_THROWS_AS(Query(memory.db, kInsert, "12abc", "s", Blob{"b"}).run(), SqlError);
  // A value that a non-STRICT table would convert to a floating-point number.
  Query(memory.db, kInsert, std::numeric_limits<std::int64_t>::max(), "s", Blob{"b"}).run();
  CHECK_THROWS_AS(memory.db.execute("UPDATE t SET i = i + 1"), SqlError);
}

TEST_CASE("connection: a text put together at run time has one address") {
  Memory memory;
  const char* first = memory.db.interned(std::string("SELECT ") + "1");
  CHECK(memory.db.interned("SELECT 1") == first);
  CHECK(memory.db.interned("SELECT 2") != first);
}

TEST_CASE("connection: a read-only connection does not make a file") {
  const TemporaryFolder folder;
  CHECK_THROWS_AS(Connection(folder.file("none.db"), OpenMode::read_only), SqlError);
  CHECK_FALSE(std::filesystem::exists(folder.file("none.db")));
}
