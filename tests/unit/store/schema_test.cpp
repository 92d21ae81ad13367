// An older file reaches the present schema, keeps its rows, and ends like a fresh one.
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
#include "unit/store/ledger_fixture.h"

using namespace coffer;
using namespace coffer::store;
using namespace coffer::store::test;

namespace {

std::string fixture(const std::string& name) {
  std::ifstream file(std::string(COFFER_FIXTURES_DIR) + "/" + name, std::ios::binary);
  INFO("fixture " << name);
  REQUIRE(file.good());
  return std::string(std::istreambuf_iterator<char>(file), {});
}

/// Without comments, with one space wherever there was any, and none beside punctuation.
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
    const bool after_mark = !out.empty() && (out.back() == '(' || out.back() == ')' || out.back() == ',');
    if (space && !out.empty() && out.back() != ' ' && !after_mark) out += ' ';
  }
  return out;
}

/// name -> definition of every table, index and trigger.
std::map<std::string, std::string> schema_of(Connection& db) {
  std::map<std::string, std::string> out;
  Query query(db, "SELECT type || ' ' || name || ' on ' || tbl_name, coalesce(sql, '') FROM sqlite_schema");
  while (query.step()) out[query.text(0)] = normalised(query.text(1));
  return out;
}

std::vector<std::string> column(Connection& db, const std::string& sql) {
  std::vector<std::string> out;
  Query query(db, db.interned(sql));
  while (query.step()) out.push_back(query.text(0));
  return out;
}

/// table -> its rows as text, in the columns it has now. `like` limits them to those of another file.
using Rows = std::map<std::string, std::vector<std::string>>;
Rows rows_of(Connection& db, const std::map<std::string, std::vector<std::string>>& columns) {
  Rows out;
  for (const auto& [table, names] : columns) {
    std::string list;
    for (const std::string& name : names) list += (list.empty() ? "quote(" : " || ',' || quote(") + name + ")";
    out[table] = column(db, "SELECT " + list + " FROM " + table + " ORDER BY 1");
  }
  return out;
}

std::map<std::string, std::vector<std::string>> columns_of(Connection& db) {
  std::map<std::string, std::vector<std::string>> out;
  for (const std::string& table : column(db, "SELECT name FROM sqlite_schema WHERE type = 'table'")) {
    out[table] = column(db, "SELECT name FROM pragma_table_info('" + table + "')");
  }
  return out;
}

/// A file as the first version left it.
void make_version_1(const std::string& path, const std::string& more = {}) {
  Connection db(path, OpenMode::read_write);
  db.execute("PRAGMA journal_mode = WAL; PRAGMA foreign_keys = OFF");
  db.execute(fixture("schema_v1.sql"));
  db.execute(fixture("data_v1.sql") + more);
  db.execute("PRAGMA application_id = " + std::to_string(kApplicationId) + "; PRAGMA user_version = 1");
}

/// The text of a fixture file without the comment it opens with.
std::string check_query(const std::string& name) {
  const std::string text = normalised(fixture(name));
  return text.substr(text.find_first_not_of(' '));
}

}  // namespace

TEST_CASE("schema_converges: an old file upgraded equals a fresh one and keeps its rows") {
  const TemporaryFolder folder;
  make_version_1(folder.file("old.db"));
  std::map<std::string, std::vector<std::string>> columns;
  Rows before;
  {
    Connection db(folder.file("old.db"), OpenMode::read_only);
    columns = columns_of(db);
    before = rows_of(db, columns);
    CHECK(before.at("payments").size() == 14);
    CHECK(before.at("settlement_jobs").size() == 1);
  }
  CapturedLog log;
  const SystemClock clock;
  OpenError error;
  REQUIRE(Database::open({.path = folder.file("old.db")}, clock, error));
  REQUIRE(Database::open({.path = folder.file("new.db")}, clock, error));
  for (const embedded::File& step : embedded::upgrades()) CHECK(log.has(std::string(step.path)));

  Connection upgraded(folder.file("old.db"), OpenMode::read_only);
  Connection fresh(folder.file("new.db"), OpenMode::read_only);
  CHECK(schema_of(upgraded) == schema_of(fresh));
  for (Connection* db : {&upgraded, &fresh}) {
    CHECK(scalar(*db, "PRAGMA user_version") == std::to_string(schema_version()));
    CHECK(scalar(*db, "PRAGMA application_id") == std::to_string(kApplicationId));
    CHECK(verify(*db, true, [](auto&&...) {}).empty());
  }
  CHECK(rows_of(upgraded, columns) == before);
}

TEST_CASE("schema: every upgrade has its number, its place and its data check") {
  const TemporaryFolder folder;
  make_version_1(folder.file());
  CapturedLog log;
  const SystemClock clock;
  OpenError error;
  REQUIRE(Database::open({.path = folder.file()}, clock, error));
  Connection db(folder.file(), OpenMode::read_only);
  CHECK(schema_version() == 1 + static_cast<int>(embedded::upgrades().size()));
  int version = 1;
  for (const embedded::File& step : embedded::upgrades()) {
    std::array<char, 8> number{};
    std::snprintf(number.data(), number.size(), "%04d", ++version);
    CHECK(step.path.substr(0, 5) == std::string(number.data()) + "_");
    CHECK(step.content.find("COMMIT") == std::string_view::npos);  // one step is one transaction
    CHECK(scalar(db, check_query(std::string(number.data()) + "_check.sql")).empty());
  }
}

TEST_CASE("schema: an upgrade that the rows do not allow leaves the file as it was") {
  const TemporaryFolder folder;
  // Two events with one id: 0002 cannot make its index.
  make_version_1(folder.file(), "UPDATE events SET id = zeroblob(16);");
  CapturedLog log;
  const SystemClock clock;
  for (int i = 0; i < 2; ++i) {  // also when it is tried again
    OpenError error;
    CHECK_FALSE(Database::open({.path = folder.file()}, clock, error));
    CHECK(error.fault == OpenFault::corrupt);
    CHECK(error.message.find("could not be upgraded to schema 2") != std::string::npos);
    Connection db(folder.file(), OpenMode::read_only);
    CHECK(scalar(db, "PRAGMA user_version") == "1");
    CHECK(scalar(db, "SELECT count(*) FROM sqlite_schema WHERE name = 'events_by_id'") == "0");
  }
}

TEST_CASE("schema: a file whose rows refer to nothing is not upgraded over") {
  const TemporaryFolder folder;
  make_version_1(folder.file(), "DELETE FROM settlement_jobs; INSERT INTO settlement_jobs VALUES (1, 999, 0);");
  CapturedLog log;
  const SystemClock clock;
  OpenError error;
  CHECK_FALSE(Database::open({.path = folder.file()}, clock, error));
  CHECK(error.fault == OpenFault::corrupt);
  Connection db(folder.file(), OpenMode::read_only);
  CHECK(scalar(db, "PRAGMA user_version") == "1");
}

TEST_CASE("schema: opening a present file again changes nothing") {
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

TEST_CASE("schema: foreign keys hold after an upgrade too") {
  const TemporaryFolder folder;
  make_version_1(folder.file());
  CapturedLog log;
  const SystemClock clock;
  OpenError error;
  const auto database = Database::open({.path = folder.file()}, clock, error);
  REQUIRE(database);
  CommitQueue queue(*database, clock, {.disk_floor_bytes = 0}, [](Signal) {});
  const auto verdict = queue.run([](WriteTx& tx) -> Result<void> {
    tx.db().execute("INSERT INTO settlement_jobs VALUES (1, 999, 0)");
    return {};
  });
  CHECK_FALSE(verdict);
}

TEST_CASE("schema: tables are strict and references are indexed where rows are many") {
  OpenedFile file;
  file.read([](Connection& db) {
    // meta excepted, every table is STRICT: a text can never become an amount.
    CHECK(column(db, "SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table'"
                     " AND strict = 0 AND name NOT LIKE 'sqlite_%'")
              .empty());
    return 0;
  });
}
