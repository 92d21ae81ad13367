// An older file is upgraded to the current schema, keeps its rows, and equals a new file.
#include "store/schema.h"

#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <cstdio>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "embedded/embedded.h"
#include "source_dir.h"
#include "store/schema_check.h"
#include "unit/store/ledger_fixture.h"

using namespace coffer;
using namespace coffer::store;
using namespace coffer::store::test;

namespace {

/// The text without comments, with white space reduced to one space, and none next to punctuation.
std::string normalised(const std::string& sql) {
  std::string out;
  bool comment = false;
  for (std::size_t i = 0; i < sql.size(); ++i) {
    if (sql[i] == '-' && i + 1 < sql.size() && sql[i + 1] == '-') comment = true;
    if (sql[i] == '\n') comment = false;
    if (comment) continue;
    const bool space = sql[i] == ' ' || sql[i] == '\n';
    const bool mark = sql[i] == '(' || sql[i] == ')' || sql[i] == ',';
    if (mark && !out.empty() && out.back() == ' ') out.pop_back();
    if (!space) out += sql[i];
    const bool after_mark =
        !out.empty() && (out.back() == '(' || out.back() == ')' || out.back() == ',');
    if (space && !out.empty() && out.back() != ' ' && !after_mark) out += ' ';
  }
  return out;
}

/// name -> definition of every table, index and trigger.
std::map<std::string, std::string> schema_of(Connection& db) {
  std::map<std::string, std::string> out;
  Query query(
      db, "SELECT type || ' ' || name || ' on ' || tbl_name, coalesce(sql, '') FROM sqlite_schema");
  while (query.step()) out[query.text(0)] = normalised(query.text(1));
  return out;
}

std::vector<std::string> column(Connection& db, const std::string& sql) {
  std::vector<std::string> out;
  Query query(db, db.interned(sql));
  while (query.step()) out.push_back(query.text(0));
  return out;
}

/// table -> its rows as text, in its current columns. `like` limits the columns to those of another
/// file.
using Rows = std::map<std::string, std::vector<std::string>>;
Rows rows_of(Connection& db, const std::map<std::string, std::vector<std::string>>& columns) {
  Rows out;
  for (const auto& [table, names] : columns) {
    std::string list;
    for (const std::string& name : names)
      list += (list.empty() ? "quote(" : " || ',' || quote(") + name + ")";
    out[table] = column(db, "SELECT " + list + " FROM " + table + " ORDER BY 1");
  }
  return out;
}

std::map<std::string, std::vector<std::string>> columns_of(Connection& db) {
  std::map<std::string, std::vector<std::string>> out;
  for (const std::string& table :
       column(db, "SELECT name FROM sqlite_schema WHERE type = 'table'")) {
    out[table] = column(db, "SELECT name FROM pragma_table_info('" + table + "')");
  }
  return out;
}

std::string source_file(const std::string& path) {
  std::ifstream file(std::string(COFFER_SOURCE_DIR) + "/" + path, std::ios::binary);
  INFO(path);
  REQUIRE(file.good());
  return std::string(std::istreambuf_iterator<char>(file), {});
}

/// The next version, like coffer_next: one more upgrade, and a schema that includes it.
class NextVersion {
 public:
  explicit NextVersion(std::string more = {})
      : step_(source_file("tests/package/next_schema.sql") + more),
        schema_(std::string(embedded::schema_sql()) + step_),
        steps_(embedded::upgrades().begin(), embedded::upgrades().end()) {
    steps_.push_back({"next_schema.sql", step_});
  }
  SchemaSource source() const { return {schema_, steps_}; }

 private:
  const std::string step_;
  const std::string schema_;
  std::vector<embedded::File> steps_;
};

/// Closes a ledger in use and upgrades its file to `next`. Returns the errors, or nothing.
OpenError upgrade(SmallLedger& ledger, const SchemaSource& next) {
  ledger.close();
  Connection db(ledger.folder.file(), OpenMode::read_write);
  return bring_schema_up_to_date(db, ledger.folder.file(), next);
}

void use(SmallLedger& ledger) {
  ledger.pay_and_settle(ledger.transfer("settled", 5));
  ledger.pay(ledger.transfer("waiting", 7));
}

}  // namespace

TEST_CASE("schema_converges: an upgraded file equals a new one and keeps its rows") {
  SmallLedger ledger;
  use(ledger);
  ledger.close();
  std::map<std::string, std::vector<std::string>> columns;
  Rows before;
  {
    Connection db(ledger.folder.file(), OpenMode::read_only);
    columns = columns_of(db);
    before = rows_of(db, columns);
    CHECK(before.at("payments").size() > 1);
    CHECK(before.at("events").size() > before.at("payments").size());
  }
  CapturedLog log;
  const NextVersion next;
  CHECK(upgrade(ledger, next.source()).fault == OpenFault::none);
  CHECK(log.has("next_schema.sql"));

  Connection upgraded(ledger.folder.file(), OpenMode::read_write);
  Connection fresh(ledger.folder.file("new.db"), OpenMode::read_write);
  CHECK(bring_schema_up_to_date(fresh, "new.db", next.source()).fault == OpenFault::none);
  CHECK(schema_of(upgraded).size() > columns.size());
  CHECK(schema_of(upgraded) == schema_of(fresh));
  for (Connection* db : {&upgraded, &fresh}) {
    CHECK(scalar(*db, "PRAGMA user_version") == std::to_string(next.source().version()));
    CHECK(scalar(*db, "PRAGMA application_id") == std::to_string(kApplicationId));
    CHECK(schema_differences(*db, next.source().schema).empty());
    // Only the version differs, because the test's next version is not that of this build.
    const auto violations = verify(*db, true, [](auto&&...) {});
    REQUIRE(violations.size() == 1);
    CHECK(violations.front().invariant == "schema");
  }
  CHECK(rows_of(upgraded, columns) == before);
}

TEST_CASE("schema: every upgrade has its number and is one transaction") {
  CHECK(schema_version() == kFirstSchema + static_cast<int>(embedded::upgrades().size()));
  int version = kFirstSchema;
  for (const embedded::File& step : embedded::upgrades()) {
    std::array<char, 8> number{};
    std::snprintf(number.data(), number.size(), "%04d", ++version);
    CHECK(step.path.substr(0, 5) == std::string(number.data()) + "_");
    CHECK(step.content.find("COMMIT") == std::string_view::npos);
  }
}

TEST_CASE("schema: an upgrade that the rows do not allow leaves the file unchanged") {
  SmallLedger ledger;
  use(ledger);
  const NextVersion next("CREATE UNIQUE INDEX one_per_tenant ON payments (tenant);");
  CapturedLog log;
  for (int i = 0; i < 2; ++i) {  // also on a retry
    const OpenError error = upgrade(ledger, next.source());
    CHECK(error.fault == OpenFault::corrupt);
    CHECK(error.message.find("could not be upgraded to schema " +
                             std::to_string(next.source().version())) != std::string::npos);
    Connection db(ledger.folder.file(), OpenMode::read_only);
    CHECK(scalar(db, "PRAGMA user_version") == std::to_string(schema_version()));
    CHECK(scalar(db, "SELECT count(*) FROM sqlite_schema WHERE name = 'next_version'") == "0");
  }
}

TEST_CASE("schema: a file with dangling references is not upgraded") {
  SmallLedger ledger;
  use(ledger);
  ledger.close();
  Connection(ledger.folder.file(), OpenMode::read_write)
      .execute("PRAGMA foreign_keys = OFF; UPDATE payments SET application = 999");
  CapturedLog log;
  CHECK(upgrade(ledger, NextVersion().source()).fault == OpenFault::corrupt);
  Connection db(ledger.folder.file(), OpenMode::read_only);
  CHECK(scalar(db, "PRAGMA user_version") == std::to_string(schema_version()));
}

TEST_CASE("schema: foreign keys hold after an upgrade too") {
  SmallLedger ledger;
  ledger.close();
  CapturedLog log;
  const NextVersion next;
  Connection db(ledger.folder.file(), OpenMode::read_write);
  REQUIRE(bring_schema_up_to_date(db, ledger.folder.file(), next.source()).fault ==
          OpenFault::none);
  CHECK_THROWS_AS(
      db.execute("INSERT INTO provider_jobs (lane, due_at, payment) VALUES (0, 1, 999)"), SqlError);
}

TEST_CASE("schema: a file of a development build before the first release is rejected") {
  SmallLedger ledger;
  ledger.close();
  Connection(ledger.folder.file(), OpenMode::read_write)
      .execute("PRAGMA user_version = " + std::to_string(kFirstSchema - 1));
  const SystemClock clock;
  OpenError error;
  CHECK_FALSE(Database::open({.path = ledger.folder.file()}, clock, error));
  CHECK(error.fault == OpenFault::corrupt);
  CHECK(error.message.find("before the first release") != std::string::npos);
}

TEST_CASE("schema: opening a current file again changes nothing") {
  SmallLedger ledger;
  ledger.pay_and_settle(ledger.transfer("a", 1));
  const std::string before = ledger.value("SELECT group_concat(sql) FROM sqlite_schema");
  CapturedLog log;
  ledger.close();
  ledger.open();
  CHECK(ledger.value("SELECT group_concat(sql) FROM sqlite_schema") == before);
  CHECK_FALSE(log.has("upgrading"));
  CHECK(ledger.verify().empty());
}

TEST_CASE("schema: tables are strict and references are indexed where rows are many") {
  OpenedFile file;
  file.read([](Connection& db) {
    // Except for meta, every table is STRICT, so a text can never become an amount.
    CHECK(column(db,
                 "SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table'"
                 " AND strict = 0 AND name NOT LIKE 'sqlite_%'")
              .empty());
    return 0;
  });
}
