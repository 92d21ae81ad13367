// Keyed digests of the rows that grant access or direct money.
#include "store/rows/guarded_rows.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "store/identity/audit_log.h"
#include "support/unguarded.h"
#include "unit/store/ledger_fixture.h"

using namespace coffer;
using namespace coffer::store;
using namespace coffer::store::test;

namespace {

std::string guarded_fault(SmallLedger& ledger, bool keyed = true) {
  Connection db(ledger.folder.file(), OpenMode::read_only);
  if (keyed) use_keys(db, test_keys());
  return verify_guarded_rows(db);
}

/// The same check in steps of one row.
std::string fault_in_steps(SmallLedger& ledger) {
  Connection db(ledger.folder.file(), OpenMode::read_only);
  use_keys(db, test_keys());
  GuardedPosition from;
  GuardedPiece piece;
  while (!piece.end && piece.fault.empty()) {
    piece = follow_guarded_rows(db, from, 1);
    CHECK(piece.rows <= 1);
  }
  return piece.fault;
}

void edit(SmallLedger& ledger, const std::string& sql) {
  Connection db(ledger.folder.file(), OpenMode::read_write);
  coffer::test::change_unguarded(db, sql);
}

struct Edit {
  std::string sql;
  std::string fault;
};

}  // namespace

TEST_CASE("guarded rows: rows that coffer writes, changes and deletes have correct digests") {
  SmallLedger ledger;
  CHECK(guarded_fault(ledger).empty());
  REQUIRE(ledger.write([&](WriteTx& tx) -> Result<void> {
    tx.db().run("INSERT INTO operator_links VALUES (randomblob(32), NULL, 9)");
    tx.db().run("INSERT INTO operator_links VALUES (randomblob(32), NULL, 9)");
    tx.db().run("UPDATE wallets SET status = 0 WHERE wallet = 1");
    return {};
  }));
  CHECK(ledger.count("row_macs WHERE source = 'operator_links'") == 2);
  CHECK(guarded_fault(ledger).empty());
  REQUIRE(ledger.write([&](WriteTx& tx) -> Result<void> {
    tx.db().run("DELETE FROM operator_links WHERE rowid = 1");
    tx.db().run("UPDATE wallets SET status = 1 WHERE wallet = 1");
    return {};
  }));
  CHECK(ledger.count("row_macs WHERE source = 'operator_links'") == 1);
  CHECK(guarded_fault(ledger).empty());
  CHECK(fault_in_steps(ledger).empty());
}

TEST_CASE("guarded rows: a rejected command and a failed batch leave no digest") {
  SmallLedger ledger;
  const std::int64_t before = ledger.count("row_macs");
  CHECK_FALSE(ledger.write([&](WriteTx& tx) -> Result<void> {
    tx.db().run("INSERT INTO operator_links VALUES (randomblob(32), NULL, 9)");
    return unexpected(Slug::conflict, "rejected");
  }));
  REQUIRE(ledger.write(
      [&](WriteTx& tx) -> Result<void> {
        tx.db().run("INSERT INTO operator_links VALUES (randomblob(32), NULL, 9)");
        return {};
      },
      CommitQueue::Mode::dry_run));
  CHECK(ledger.count("row_macs") == before);
  CHECK(guarded_fault(ledger).empty());
}

TEST_CASE("guarded rows: a row that another program inserted, changed or deleted is named") {
  const std::vector<Edit> edits{
      {"INSERT INTO operator_links VALUES (randomblob(32), NULL, 4102444800000)",
       "operator_links row 1 was inserted by another program"},
      {"UPDATE applications SET api_key_hash = zeroblob(32)",
       "applications row 1 was changed by another program"},
      {"UPDATE wallets SET public_key = 'G' WHERE wallet = 2",
       "wallets row 2 was changed by another program"},
      {"UPDATE accounts SET wallet = 3 WHERE account = 2",
       "accounts row 2 was changed by another program"},
      {"UPDATE accounts SET created_at = created_at + 432000000 WHERE account = 2",
       "accounts row 2 was changed by another program"},
      {"UPDATE associations SET status = 0", "associations row 1 was changed by another program"},
      {"UPDATE assets SET name = 'x' WHERE asset = 1",
       "assets row 1 was changed by another program"},
      {"DELETE FROM wallets WHERE wallet = 3", "wallets row 3 was deleted by another program"},
      {"DELETE FROM wallets WHERE wallet = 1", "wallets row 1 was deleted by another program"},
      {"DELETE FROM row_macs WHERE source = 'wallets' AND row = 2",
       "wallets row 2 was inserted by another program"},
      {"UPDATE row_macs SET mac = (SELECT mac FROM row_macs WHERE source = 'wallets' AND row = 2)"
       " WHERE source = 'wallets' AND row = 1",
       "wallets row 1 was changed by another program"},
      {"INSERT INTO row_macs VALUES ('operators', 7, zeroblob(32))",
       "operators row 7 was deleted by another program"},
      {"UPDATE row_macs SET mac = zeroblob(4096) WHERE source = 'wallets' AND row = 1",
       "wallets row 1 was changed by another program"},
      {"UPDATE sealed_totals SET sum = zeroblob(4096) WHERE source = 'wallets'",
       "wallets has rows that differ from what coffer wrote"},
  };
  for (const Edit& one : edits) {
    INFO(one.sql);
    SmallLedger ledger;
    ledger.close();
    edit(ledger, one.sql);
    CHECK(guarded_fault(ledger) == one.fault);
    CHECK(fault_in_steps(ledger) == one.fault);
    Connection db(ledger.folder.file(), OpenMode::read_only);
    bool found = false;
    for (const Violation& violation : keyed_verify(db)) found |= violation.detail == one.fault;
    CHECK(found);
  }
}

TEST_CASE("guarded rows: a later change by coffer does not hide the change of another program") {
  struct Later {
    Edit edit;
    const char* change;  // by coffer
  };
  const std::vector<Later> cases{
      {{"UPDATE wallets SET public_key = 'G' WHERE wallet = 2",
        "wallets row 2 was changed by another program"},
       "UPDATE wallets SET status = 0 WHERE wallet = 2"},
      {{"UPDATE wallets SET public_key = 'G' WHERE wallet = 2",
        "wallets row 2 was changed by another program"},
       "UPDATE wallets SET name = 'other' WHERE wallet = 2"},
      {{"INSERT INTO operator_links VALUES (zeroblob(32), NULL, 9)",
        "operator_links row 1 was inserted by another program"},
       "UPDATE operator_links SET expires_at = 10"},
      {{"DELETE FROM row_macs WHERE source = 'wallets' AND row = 2",
        "wallets row 2 was inserted by another program"},
       "UPDATE wallets SET status = 0 WHERE wallet = 2"},
  };
  for (const Later& one : cases) {
    INFO(one.edit.sql);
    SmallLedger ledger;
    edit(ledger, one.edit.sql);
    CapturedLog log;
    REQUIRE(ledger.write([&](WriteTx& tx) -> Result<void> {
      tx.db().run(one.change);
      return {};
    }));
    CHECK(guarded_fault(ledger) == one.edit.fault);
  }
}

TEST_CASE("guarded rows: a row that was deleted with its digest is missing in the sealed total") {
  const std::string gone =
      "DELETE FROM operator_links WHERE rowid = 2;"
      "DELETE FROM row_macs WHERE source = 'operator_links' AND row = 2;";
  const std::vector<Edit> edits{
      {gone, "operator_links has 2 rows instead of 3: another program changed it"},
      {"DELETE FROM operator_links; DELETE FROM row_macs WHERE source = 'operator_links'",
       "operator_links has 0 rows instead of 3: another program changed it"},
      {gone + "UPDATE sealed_totals SET rows = 2 WHERE source = 'operator_links'",
       "operator_links has rows that differ from what coffer wrote"},
      {gone + "UPDATE sealed_totals SET rows = 2, sum = (SELECT a.mac FROM row_macs a WHERE"
              " a.source = 'operator_links' AND a.row = 1) WHERE source = 'operator_links'",
       "operator_links has rows that differ from what coffer wrote"},
      {"UPDATE sealed_totals SET seal = zeroblob(32) WHERE source = 'operator_links'",
       "the sealed total of operator_links was changed by another program"},
      {"DELETE FROM sealed_totals WHERE source = 'operator_links'",
       "the sealed total of operator_links was deleted by another program"},
      {"DELETE FROM sealed_totals WHERE source = 'users'",
       "the sealed total of users was deleted by another program"},
  };
  const auto add_link = [](WriteTx& tx) -> Result<void> {
    tx.db().run("INSERT INTO operator_links VALUES (randomblob(32), NULL, 9)");
    return {};
  };
  for (const Edit& one : edits) {
    INFO(one.sql);
    SmallLedger ledger;
    for (int i = 0; i < 3; ++i) REQUIRE(ledger.write(add_link));
    CHECK(guarded_fault(ledger).empty());
    edit(ledger, one.sql);
    CHECK(guarded_fault(ledger) == one.fault);
    CHECK(fault_in_steps(ledger) == one.fault);
    // A later change by coffer does not hide it.
    REQUIRE(ledger.write(add_link));
    CHECK_FALSE(guarded_fault(ledger).empty());
  }
}

TEST_CASE("audit log: entries that are missing at the end are found") {
  const auto record = [](WriteTx& tx) -> Result<void> {
    append_audit_entry(tx, {"ada", "wallet fund", "{}", std::nullopt});
    return {};
  };
  const auto fault = [](SmallLedger& ledger) {
    Connection db(ledger.folder.file(), OpenMode::read_only);
    use_keys(db, test_keys());
    return verify_audit_log(db);
  };
  const std::vector<Edit> edits{
      {"DELETE FROM audit_log WHERE entry = 3",
       "audit_log has 2 rows instead of 3: another program changed it"},
      {"DELETE FROM audit_log", "audit_log has 0 rows instead of 3: another program changed it"},
      {"DELETE FROM audit_log; DELETE FROM sealed_totals WHERE source = 'audit_log'",
       "the sealed total of audit_log was deleted by another program"},
      {"UPDATE sealed_totals SET rows = 2 WHERE source = 'audit_log'; DELETE FROM audit_log WHERE"
       " entry = 3",
       "audit_log has rows that differ from what coffer wrote"},
  };
  for (const Edit& one : edits) {
    INFO(one.sql);
    SmallLedger ledger;
    for (int i = 0; i < 3; ++i) REQUIRE(ledger.write(record));
    CHECK(fault(ledger).empty());
    edit(ledger, one.sql);
    CHECK(fault(ledger) == one.fault);
    REQUIRE(ledger.write([](WriteTx& tx) -> Result<void> {
      append_audit_entry(tx, {"eve", "wallet fund", "{}", std::nullopt});
      return {};
    }));
    CHECK_FALSE(fault(ledger).empty());
  }
}

TEST_CASE("audit log: a link of another length is detected, even without keys") {
  SmallLedger ledger;
  const auto record = [](WriteTx& tx) -> Result<void> {
    append_audit_entry(tx, {"ada", "wallet fund", "{}", std::nullopt});
    return {};
  };
  REQUIRE(ledger.write(record));
  edit(ledger, "UPDATE audit_log SET link = zeroblob(4096) WHERE entry = 1");
  const auto fault = [&](bool keyed) {
    Connection db(ledger.folder.file(), OpenMode::read_only);
    if (keyed) use_keys(db, test_keys());
    ChainPosition from;
    return follow_audit_log(db, from, 10).fault;
  };
  CHECK(fault(false) == "audit_log has rows that differ from what coffer wrote");
  CHECK(fault(true) == "audit entry 1 does not continue the chain");
  REQUIRE(ledger.write(record));
  CHECK_FALSE(fault(true).empty());
}

TEST_CASE("audit log: a continued check detects that its last entries are missing") {
  SmallLedger ledger;
  const auto record = [](WriteTx& tx) -> Result<void> {
    append_audit_entry(tx, {"ada", "wallet fund", "{}", std::nullopt});
    return {};
  };
  for (int i = 0; i < 3; ++i) REQUIRE(ledger.write(record));
  ChainPosition from;
  const auto walk = [&] {
    Connection db(ledger.folder.file(), OpenMode::read_only);
    use_keys(db, test_keys());
    return follow_audit_log(db, from, 10).fault;
  };
  CHECK(walk().empty());
  edit(ledger, "DELETE FROM audit_log WHERE entry = 3");
  CHECK(walk() == "audit entry 3 is missing");
}

TEST_CASE("guarded rows: columns that are not covered change freely") {
  SmallLedger ledger;
  ledger.close();
  edit(ledger, "UPDATE wallets SET name = 'other', updated_at = 1");
  CHECK(guarded_fault(ledger).empty());
}

TEST_CASE("guarded rows: without keys, an inserted row is found, but not a changed one") {
  SmallLedger ledger;
  ledger.close();
  edit(ledger, "UPDATE wallets SET public_key = 'G' WHERE wallet = 2");
  CHECK(guarded_fault(ledger, false).empty());
  edit(ledger, "INSERT INTO operator_links VALUES (randomblob(32), NULL, 9)");
  CHECK_FALSE(guarded_fault(ledger, false).empty());
}

TEST_CASE("guarded rows: every covered column and table exists") {
  SmallLedger ledger;
  for (const GuardedTable& table : guarded_tables()) {
    INFO(table.name);
    ledger.read([&](Connection& db) {
      const std::string columns(table.columns);
      Query query(db, db.interned("SELECT rowid, " + columns + " FROM " + std::string(table.name)));
      query.step();
      return 0;
    });
  }
}

TEST_CASE("guarded rows: without keys, no row that needs them is written") {
  SmallLedger ledger;
  CapturedLog log;
  REQUIRE(ledger.write([&](WriteTx& tx) -> Result<void> {
    use_keys(tx.db(), nullptr);
    return {};
  }));
  CHECK_FALSE(ledger.write([&](WriteTx& tx) -> Result<void> {
    tx.db().run("INSERT INTO operator_links VALUES (randomblob(32), NULL, 9)");
    return {};
  }));
  CHECK(ledger.count("operator_links") == 0);
}
