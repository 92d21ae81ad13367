// Every column of the schema has a place: a keyed digest covers it, or SECURITY.md says why not.
#include <catch2/catch.hpp>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>

#include "source_dir.h"
#include "store/rows/guarded_rows.h"
#include "support/unguarded.h"
#include "unit/store/ledger_fixture.h"

using namespace coffer;
using namespace coffer::store;
using namespace coffer::store::test;

namespace {

using Columns = std::map<std::string, std::set<std::string>>;  // by table

std::set<std::string> names_in(std::string_view list) {
  std::set<std::string> out;
  std::istringstream text{std::string(list)};
  for (std::string name; std::getline(text, name, ',');)
    out.insert(name.substr(name.find_first_not_of(' ')));
  return out;
}

/// All columns, without the keys that are rowids: a digest covers the key of its row.
Columns columns_of_schema(Connection& db) {
  Columns out;
  Query query(db,
              "SELECT t.name, c.name FROM sqlite_schema t JOIN pragma_table_xinfo(t.name) c"
              " WHERE t.type = 'table' AND t.name NOT LIKE 'sqlite%'"
              " AND NOT (c.pk = 1 AND c.type = 'INTEGER' AND (SELECT count(*) FROM"
              "  pragma_table_info(t.name) WHERE pk > 0) = 1)");
  while (query.step()) out[query.text(0)].insert(query.text(1));
  return out;
}

/// The columns under the digests that are not in row_macs. The tests below change each of them.
Columns columns_of_chains() {
  const auto all = [](std::string_view list) { return names_in(list); };
  return {
      {"journal", all("tenant, kind, payment, at, link")},
      {"entries", all("account, amount, balance_after, counterparty, leg")},
      {"audit_log", all("at, actor, command, detail, outcome_of, outcome, link")},
      {"row_macs", all("source, row, mac")},
      {"sealed_totals", all("source, rows, sum, seal")},
      {"event_bodies", all("body, mac")},
      {"payments",
       all("tenant, id, transaction_id, application, request_id, type, status, version,"
           " source_wallet, destination_wallet, sending_asset, sending_amount, receiving_asset,"
           " receiving_amount, min_receiving, path, from_ref, to_ref, description, memo, notify,"
           " failure, created_at, processing_after, completed_after, updated_after,"
           " refund_pending_at, refund_closed_at, beneficiary, destination, connector, quote,"
           " refund_failure, corrected_at, corrected_from, refunded_amount, mac, metadata")},
      {"payment_legs",
       all("payment, leg, source_wallet, destination_wallet, asset, amount, from_ref, to_ref,"
           " description")},
      {"holds", all("payment, account, amount")},
      {"provider_payments",
       all("fee, total, transaction_type, purpose_of_payment, source_of_funds, relationship,"
           " payer_name, payer_account, payer_phone, state, in_review, attempts, first_sent_at,"
           " expires_at, provider_reference, connector_endpoint, collected_amount, open_item, "
           "arrived_currency, revision,"
           " mac")},
      {"payment_fields", all("payment, name, value")},
      {"payment_instructions", all("payment, name, value")},
      {"reference_payments", all("connector, provider_payment_id, onramp_reference, payment")},
  };
}

Columns covered_columns() {
  Columns out = columns_of_chains();
  for (const GuardedTable& table : guarded_tables()) {
    out[std::string(table.name)] = names_in(table.columns);
  }
  return out;
}

/// The columns that SECURITY.md lists, with `*` for all of a table.
Columns listed_columns() {
  std::ifstream file(std::string(COFFER_SOURCE_DIR) + "/SECURITY.md");
  REQUIRE(file.good());
  Columns out;
  bool inside = false;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("## ")) inside = line == "## What no digest covers";
    if (!inside || !line.starts_with("| `")) continue;
    const std::string cell = line.substr(0, line.find(" | "));
    const std::regex name("`([a-z_]+)\\.([a-z_]+|\\*)`");
    for (std::sregex_iterator at(cell.begin(), cell.end(), name), end; at != end; ++at) {
      out[(*at)[1]].insert((*at)[2]);
    }
  }
  return out;
}

/// Sets the column of one row of the table to another value of its type.
std::string change_of(const std::string& table, const std::string& column,
                      const std::string& type) {
  const std::string other = type == "INTEGER" ? "ifnull(" + column + ", 0) + 1"
                            : type == "TEXT"  ? "ifnull(" + column + ", '') || 'x'"
                                             : "CAST(ifnull(" + column + ", x'') || x'00' AS BLOB)";
  return "UPDATE " + table + " SET " + column + " = " + other + " WHERE " + column +
         " IS (SELECT max(" + column + ") FROM " + table + ")";
}

}  // namespace

TEST_CASE(
    "column places: each column of the schema is covered by a digest or listed with a reason") {
  SmallLedger ledger;
  const Columns schema = ledger.read([](Connection& db) { return columns_of_schema(db); });
  const Columns covered = covered_columns();
  Columns listed = listed_columns();
  for (const auto& [table, columns] : schema) {
    for (const std::string& column : columns) {
      INFO(table << '.' << column);
      const bool is_covered = covered.contains(table) && covered.at(table).contains(column);
      const bool is_listed = listed[table].contains(column) || listed[table].contains("*");
      CHECK(is_covered != is_listed);
    }
  }
  for (const auto& [table, columns] : listed) {
    for (const std::string& column : columns) {
      INFO("listed: " << table << '.' << column);
      CHECK((schema.contains(table) && (column == "*" || schema.at(table).contains(column))));
    }
  }
}

TEST_CASE("column places: verification finds a change of each covered column") {
  SmallLedger ledger;
  ledger.pay_and_settle(ledger.transfer("settled", 5));
  ledger.pay(ledger.transfer("waiting", 7));
  ledger.close();
  const std::string sound = ledger.folder.file();
  const std::string copy = ledger.folder.file("copy.db");
  Columns covered = covered_columns();
  std::set<std::string> types_of;
  int changed = 0;
  for (const auto& [table, columns] : covered) {
    for (const std::string& column : columns) {
      std::filesystem::copy_file(sound, copy, std::filesystem::copy_options::overwrite_existing);
      {
        Connection db(copy, OpenMode::read_write);
        if (scalar(db, "SELECT count(*) FROM " + table) == "0") continue;
        const std::string type = scalar(db, "SELECT type FROM pragma_table_xinfo('" + table +
                                                "') WHERE name = '" + column + "'");
        coffer::test::change_unguarded(db, change_of(table, column, type));
      }
      Connection db(copy, OpenMode::read_only);
      INFO(table << '.' << column);
      CHECK_FALSE(keyed_verify(db, false).empty());
      ++changed;
    }
  }
  CHECK(changed > 90);
}
