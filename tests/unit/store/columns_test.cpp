// A row as a struct: the columns that INSERT and UPDATE write and that a read fills.
#include "store/rows/columns.h"

#include <catch2/catch.hpp>

using namespace coffer;
using namespace coffer::store;

namespace columns_test {
namespace {

struct Dates {
  Timestamp from;
  std::optional<Timestamp> to;
};
struct Lease {
  std::int64_t key = 0;
  std::string name;
  std::optional<std::string> sealed;
  std::optional<Dates> dates;
  bool ended = false;
};

constexpr Column<Lease> kLease[] = {
    joined<&Lease::key>("l.lease"),
    column<&Lease::name>("l.name"),
    changing(blob_column<&Lease::sealed>("l.sealed")),
    changing(column<&Lease::dates, &Dates::from>("l.starts")),
    changing(column<&Lease::dates, &Dates::to>("l.ends")),
    joined<&Lease::ended>("l.ends IS NOT NULL"),
};
const std::string kFind = select(kLease) + " FROM leases l WHERE l.lease = ?";
const std::string kInsert = ColumnList{"at"}.add(kLease).insert_into("leases");
const std::string kUpdate =
    ColumnList{"at"}.add_changing(kLease).update("leases") + " WHERE lease = ?";

std::optional<Lease> find_lease(Connection& db, std::int64_t key) {
  return first_row<Lease>(db, kFind, kLease, key);
}

}  // namespace

TEST_CASE("an UPDATE writes only the columns that change") {
  Connection db(":memory:", OpenMode::read_write);
  db.execute(
      "CREATE TABLE leases (lease INTEGER PRIMARY KEY, at INTEGER, name TEXT, sealed BLOB,"
      " starts INTEGER, ends INTEGER) STRICT");
  CHECK(kUpdate == "UPDATE leases SET at = ?, sealed = ?, starts = ?, ends = ? WHERE lease = ?");
  insert_row(db, kInsert, kLease, Lease{.name = "first"}, Timestamp{5});
  insert_row(db, kInsert, kLease, Lease{.name = "second"}, Timestamp{5});

  const Lease changed{.name = "other", .sealed = "\x01", .dates = Dates{{10}, Timestamp{20}}};
  update_row(db, kUpdate, kLease, changed, std::int64_t{2}, Timestamp{6});

  const auto row = find_lease(db, 2);
  REQUIRE(row);
  CHECK(row->name == "second");
  CHECK(row->sealed == "\x01");
  REQUIRE(row->dates);
  CHECK(row->dates->from == Timestamp{10});
  CHECK(row->dates->to == Timestamp{20});
  CHECK(row->ended);
  CHECK_FALSE(find_lease(db, 1)->sealed);
}

TEST_CASE("a member of an empty optional is NULL, and NULL leaves the optional empty") {
  Connection db(":memory:", OpenMode::read_write);
  db.execute(
      "CREATE TABLE leases (lease INTEGER PRIMARY KEY, at INTEGER, name TEXT, sealed BLOB,"
      " starts INTEGER, ends INTEGER) STRICT");
  insert_row(db, kInsert, kLease, Lease{.name = "open", .dates = Dates{{10}, {}}}, Timestamp{5});
  REQUIRE(find_lease(db, 1)->dates);
  CHECK_FALSE(find_lease(db, 1)->dates->to);

  update_row(db, kUpdate, kLease, Lease{}, std::int64_t{1}, Timestamp{6});
  CHECK_FALSE(find_lease(db, 1)->dates);
  CHECK_FALSE(first_row<Lease>(db, kFind, kLease, std::int64_t{2}));
}

TEST_CASE("a row of a few columns is read in their order, with defaults for NULL") {
  Connection db(":memory:", OpenMode::read_write);
  struct Pair {
    std::int64_t key = 0;
    std::string name;
    std::optional<Timestamp> at;
  };
  constexpr const char* kPairs =
      "SELECT column1, column2, column3 FROM (VALUES (1, 'a', 9), (2, NULL, NULL))"
      " WHERE column1 >= ?";
  using At = std::optional<Timestamp>;
  const auto all = all_of<Pair, std::int64_t, std::string, At>(db, kPairs, std::int64_t{1});
  REQUIRE(all.size() == 2);
  CHECK(all[0].key == 1);
  CHECK(all[0].name == "a");
  CHECK(all[0].at == Timestamp{9});
  const auto second = first_of<Pair, std::int64_t, std::string, At>(db, kPairs, std::int64_t{2});
  REQUIRE(second);
  CHECK(second->key == 2);
  CHECK(second->name.empty());
  CHECK_FALSE(second->at);
  CHECK_FALSE(first_of<Pair, std::int64_t, std::string, At>(db, kPairs, std::int64_t{3}));
}

}  // namespace columns_test
