#include "store/connection.h"

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
