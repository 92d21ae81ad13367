// A row as a struct: the columns that INSERT and UPDATE write and that a read fills.
#include "store/rows/columns.h"

#include <catch2/catch.hpp>

using namespace coffer;
using namespace coffer::store;

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
