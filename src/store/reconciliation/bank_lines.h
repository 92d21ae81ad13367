// Lines of imported statements, the files that they came from, the payments that are offered for
// them, and the saved mappings of CSV files.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "domain/identity/tenant.h"
#include "domain/ids.h"
#include "domain/reconciliation/matching.h"
#include "store/commits/write_tx.h"
#include "store/rows/page.h"

namespace coffer::store {

struct StatementFileRow {
  std::int64_t key = 0;
  Environment environment = Environment::sandbox;
  std::int64_t connector = 0;
  std::string digest;  // SHA-256 of the content
  StatementFormat format = StatementFormat::camt;
  std::int64_t lines = 0;
  Timestamp imported_at;
  std::optional<Timestamp> completed_at;  // empty: an import has not ended
};
std::optional<StatementFileRow> find_statement_file(Connection& db, Environment environment,
                                                    std::string_view digest);
/// Sets `key`.
void insert_statement_file(WriteTx& tx, StatementFileRow& row);
void complete_statement_file(WriteTx& tx, std::int64_t file);
/// Gives its lines without a match to another connector.
void set_file_connector(WriteTx& tx, std::int64_t file, std::int64_t connector);

/// A statement of a file.
struct BankStatementRow {
  std::int64_t key = 0;
  StatementSpan is;
};
/// Sets `key`, also if the file has the statement already.
void insert_bank_statement(WriteTx& tx, BankStatementRow& row);
BankStatementRow bank_statement(Connection& db, std::int64_t key);

struct BankLineRow {
  std::int64_t key = 0;
  BankLineId id;
  std::int64_t file = 0;
  std::int64_t statement = 0;
  std::optional<std::int64_t> replaces;  // a line of which this one is a detail
  Environment environment = Environment::sandbox;
  std::int64_t connector = 0;   // of the import
  std::int64_t counts_for = 0;  // the connector of the file, unless a match says otherwise
  ConnectorId connector_id;     // of `counts_for`
  std::string account;
  BankLine is;
  LineState state = LineState::unmatched;
  Timestamp imported_at;
};
/// The digest of what identifies an entry: account, day, amount, currency and the bank's reference,
/// and without one, the texts. `occurrence`, from 1, tells entries apart that are equal in this.
/// `of`: the mark of the line that it replaces.
std::string mark_of(std::string_view account, const BankLine& line, int occurrence,
                    std::string_view of = {});
/// The stored lines with the marks of occurrence 1, 2 and so on, up to the first that is missing.
std::vector<BankLineRow> equal_bank_lines(Connection& db, Environment environment,
                                          std::string_view account, const BankLine& line);
/// False if the environment has an entry with this mark. Sets `key`.
bool insert_bank_line(WriteTx& tx, BankLineRow& row, const std::string& mark);
/// Lines of an account and currency of these days that count, without those of statements with
/// balances; instead of a line that replaces another one, that one.
std::vector<std::int64_t> lines_without_balances(Connection& db, Environment environment,
                                                 std::string_view account,
                                                 std::string_view currency, Timestamp first,
                                                 Timestamp last);
/// Throws ForeignChange if another program changed it.
std::optional<BankLineRow> find_bank_line(Connection& db, BankLineId id);
/// Newest first.
RowPage<BankLineRow> list_bank_lines(Connection& db, std::optional<LineState> state,
                                     std::optional<std::int64_t> connector, const PageAt& page);
/// Lines without a match; the newest `limit`.
std::vector<OpenLine> open_bank_lines(Connection& db, Environment environment, std::int64_t limit);
/// Lines without a match that were imported before this time: their number, up to `limit`, and the
/// oldest.
struct OldLines {
  std::int64_t count = 0;
  std::optional<Timestamp> oldest;
};
OldLines old_bank_lines(Connection& db, Timestamp before, std::int64_t limit);
LineState line_state(Connection& db, std::int64_t line);
void set_line_state(WriteTx& tx, std::int64_t line, LineState state);

struct OfferRow {
  MatchChoice choice;
  PaymentId payment_id;
};
std::vector<OfferRow> offers_of(Connection& db, std::int64_t line);
void replace_offers(WriteTx& tx, std::int64_t line, const std::vector<MatchChoice>& choices);

struct CsvMappingRow {
  std::string name;
  std::string columns;
  std::string separator;
  std::string decimal;
  std::string date;
};
std::optional<CsvMappingRow> find_csv_mapping(Connection& db, std::string_view name);
std::vector<CsvMappingRow> list_csv_mappings(Connection& db);
void set_csv_mapping(WriteTx& tx, const CsvMappingRow& row);

}  // namespace coffer::store
