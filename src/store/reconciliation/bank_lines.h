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

struct BankLineRow {
  std::int64_t key = 0;
  BankLineId id;
  std::int64_t file = 0;
  Environment environment = Environment::sandbox;
  std::int64_t connector = 0;
  ConnectorId connector_id;
  std::string account;
  BankLine is;
  LineState state = LineState::unmatched;
  Timestamp imported_at;
};
/// The digest of what identifies an entry: account, day, amount, currency and the bank's reference.
/// Without a reference, the texts count, and `occurrence`, which tells equal entries of one file
/// apart.
std::string mark_of(std::string_view account, const BankLine& line, int occurrence);
/// False if the environment has an entry with this mark. Sets `key`.
bool insert_bank_line(WriteTx& tx, BankLineRow& row, const std::string& mark);
/// Throws ForeignChange if another program changed it.
std::optional<BankLineRow> find_bank_line(Connection& db, BankLineId id);
/// Newest first.
RowPage<BankLineRow> list_bank_lines(Connection& db, std::optional<LineState> state,
                                     std::optional<std::int64_t> connector, const PageAt& page);
/// Lines without a match of all connectors of the provider of `connector`, in its environment; the
/// newest `limit`.
std::vector<OpenLine> open_bank_lines(Connection& db, std::int64_t connector, std::int64_t limit);
/// Lines without a match that were imported before this time: their number, up to `limit`, and the
/// oldest.
struct OldLines {
  std::int64_t count = 0;
  std::optional<Timestamp> oldest;
};
OldLines old_bank_lines(Connection& db, Timestamp before, std::int64_t limit);
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
