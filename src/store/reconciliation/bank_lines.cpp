#include "store/reconciliation/bank_lines.h"

#include <algorithm>
#include <limits>
#include <unordered_map>

#include "base/digest.h"
#include "store/rows/columns.h"
#include "store/rows/guarded_rows.h"
#include "store/rows/key_walk.h"

namespace coffer::store {
namespace {

constexpr Column<StatementFileRow> kFileColumns[] = {
    joined<&StatementFileRow::key>("statement_file"),
    column<&StatementFileRow::environment>("environment"),
    column<&StatementFileRow::connector>("connector"),
    blob_column<&StatementFileRow::digest>("digest"),
    column<&StatementFileRow::format>("format"),
    column<&StatementFileRow::lines>("lines"),
    column<&StatementFileRow::imported_at>("imported_at"),
    joined<&StatementFileRow::completed_at>("completed_at"),
};
const std::string kFindFile =
    select(kFileColumns) + " FROM statement_files WHERE environment = ? AND digest = ?";
const std::string kInsertFile = ColumnList{}.add(kFileColumns).insert_into("statement_files");

constexpr Column<BankStatementRow> kStatementColumns[] = {
    joined<&BankStatementRow::key>("bank_statement"),
    column<&BankStatementRow::is, &StatementSpan::file>("statement_file"),
    column<&BankStatementRow::is, &StatementSpan::position>("position"),
    column<&BankStatementRow::is, &StatementSpan::number>("number"),
    column<&BankStatementRow::is, &StatementSpan::page>("page"),
    column<&BankStatementRow::is, &StatementSpan::currency>("currency"),
    column<&BankStatementRow::is, &StatementSpan::opening>("opening"),
    column<&BankStatementRow::is, &StatementSpan::closing>("closing"),
    column<&BankStatementRow::is, &StatementSpan::first_day>("first_day"),
    column<&BankStatementRow::is, &StatementSpan::last_day>("last_day"),
};
const std::string kStatementByKey =
    select(kStatementColumns) + " FROM bank_statements WHERE bank_statement = ?";
const std::string kInsertStatement =
    ColumnList{}.add(kStatementColumns).insert_into("bank_statements");
constexpr const char* kStatementOfFile =
    "SELECT bank_statement FROM bank_statements WHERE statement_file = ? AND position = ?";

using Row = BankLineRow;
constexpr Column<Row> kLineColumns[] = {
    joined<&Row::key>("l.bank_line"),
    joined<&Row::connector_id>("c.id"),
    joined<&Row::counts_for>("f.connector"),
    joined<&Row::state>("l.state"),
    column<&Row::id>("l.id"),
    column<&Row::file>("l.statement_file"),
    column<&Row::environment>("l.environment"),
    column<&Row::connector>("l.connector"),
    column<&Row::statement>("l.bank_statement"),
    column<&Row::replaces>("l.replaces"),
    column<&Row::account>("l.account"),
    column<&Row::is, &BankLine::booked_on>("l.booked_on"),
    column<&Row::is, &BankLine::value_on>("l.value_on"),
    column<&Row::is, &BankLine::amount>("l.amount"),
    column<&Row::is, &BankLine::charges>("l.charges"),
    column<&Row::is, &BankLine::currency>("l.currency"),
    column<&Row::is, &BankLine::original, &StatedAmount::amount>("l.original_amount"),
    column<&Row::is, &BankLine::original, &StatedAmount::currency>("l.original_currency"),
    column<&Row::is, &BankLine::bank_reference>("l.bank_reference"),
    column<&Row::is, &BankLine::reference>("l.reference"),
    column<&Row::is, &BankLine::text>("l.text"),
    column<&Row::is, &BankLine::party_name>("l.party_name"),
    column<&Row::is, &BankLine::party_account>("l.party_account"),
    column<&Row::is, &BankLine::code>("l.code"),
    column<&Row::imported_at>("l.imported_at"),
};
const std::string kSelectLine =
    select(kLineColumns) +
    " FROM bank_lines l JOIN statement_files f ON f.statement_file = l.statement_file"
    " JOIN connectors c ON c.connector = f.connector WHERE ";
const std::string kLineById = kSelectLine + "l.id = ?";
const std::string kLineByKey = kSelectLine + "l.bank_line = ?";
const std::string kInsertLine = ColumnList{"mark"}.add(kLineColumns).insert_into("bank_lines");
constexpr const char* kKnownMark =
    "SELECT bank_line FROM bank_lines WHERE environment = ? AND mark = ?";
constexpr KeyIndex kAllLines = COFFER_KEY_INDEX("bank_line", "bank_lines", "true");
constexpr KeyIndex kLinesInState =
    COFFER_KEY_INDEX("bank_line", "bank_lines INDEXED BY bank_lines_by_state", "state = ?3");

constexpr Column<OpenLine> kOpenColumns[] = {
    joined<&OpenLine::key>("l.bank_line"),
    joined<&OpenLine::booked_on>("l.booked_on"),
    joined<&OpenLine::amount>("l.amount"),
    joined<&OpenLine::charges>("l.charges"),
    joined<&OpenLine::currency>("l.currency"),
    joined<&OpenLine::original, &StatedAmount::amount>("l.original_amount"),
    joined<&OpenLine::original, &StatedAmount::currency>("l.original_currency"),
    joined<&OpenLine::reference>("l.reference"),
    joined<&OpenLine::bank_reference>("l.bank_reference"),
    joined<&OpenLine::text>("l.text"),
};
static_assert(stored(LineState::matched) == 2);
static_assert(stored(LineState::replaced) == 3);
const std::string kOpen =
    select(kOpenColumns) +
    " FROM bank_lines l INDEXED BY bank_lines_open WHERE l.state < 2 AND l.environment = ?1"
    " ORDER BY l.imported_at DESC, l.bank_line DESC LIMIT ?2";
constexpr const char* kUndone =
    "SELECT DISTINCT m.bank_line, m.payment FROM bank_lines l INDEXED BY bank_lines_open"
    " CROSS JOIN bank_matches m INDEXED BY bank_matches_of_line ON m.bank_line = l.bank_line"
    " WHERE l.state < 2 AND l.environment = ? AND m.undoes IS NOT NULL";
constexpr const char* kWithoutBalances =
    "SELECT ifnull(l.replaces, l.bank_line) FROM bank_lines l INDEXED BY bank_lines_by_day"
    " JOIN bank_statements s ON s.bank_statement = l.bank_statement"
    " WHERE l.environment = ? AND l.account = ? AND l.currency = ? AND l.booked_on >= ?"
    " AND l.booked_on <= ? AND l.state <> 3 AND (s.opening IS NULL OR s.closing IS NULL)";
constexpr const char* kOld =
    "SELECT count(*), min(imported_at) FROM (SELECT imported_at FROM bank_lines"
    " INDEXED BY bank_lines_open WHERE state < 2 AND imported_at < ? ORDER BY imported_at LIMIT "
    "?)";

constexpr const char* kOffers =
    "SELECT o.kind, o.payment, o.refund, o.rule, p.id FROM bank_offers o"
    " JOIN payments p ON p.payment = o.payment WHERE o.bank_line = ? ORDER BY o.position";
constexpr const char* kInsertOffer = "INSERT INTO bank_offers VALUES (?, ?, ?, ?, ?, ?)";

constexpr Column<CsvMappingRow> kMappingColumns[] = {
    column<&CsvMappingRow::name>("name"),           column<&CsvMappingRow::columns>("columns"),
    column<&CsvMappingRow::separator>("separator"), column<&CsvMappingRow::decimal>("decimal"),
    column<&CsvMappingRow::date>("date"),
};
const std::string kMappings = select(kMappingColumns) + " FROM csv_mappings ORDER BY name";
const std::string kMappingByName = select(kMappingColumns) + " FROM csv_mappings WHERE name = ?";

}  // namespace

std::optional<StatementFileRow> find_statement_file(Connection& db, Environment environment,
                                                    std::string_view digest) {
  auto row = first_row<StatementFileRow>(db, kFindFile, kFileColumns, environment, Blob{digest});
  if (row) require_intact(db, "statement_files", row->key, {{"digest", Blob{digest}}});
  return row;
}

void insert_statement_file(WriteTx& tx, StatementFileRow& row) {
  row.imported_at = tx.now();
  insert_row(tx.db(), kInsertFile, kFileColumns, row);
  row.key = tx.db().last_insert_key();
}

void complete_statement_file(WriteTx& tx, std::int64_t file) {
  tx.db().run("UPDATE statement_files SET completed_at = ? WHERE statement_file = ?", tx.now(),
              file);
}

void set_file_connector(WriteTx& tx, std::int64_t file, std::int64_t connector) {
  tx.db().run("UPDATE statement_files SET connector = ? WHERE statement_file = ?", connector, file);
}

void insert_bank_statement(WriteTx& tx, BankStatementRow& row) {
  if (const auto known = first_integer(tx.db(), kStatementOfFile, row.is.file, row.is.position)) {
    row.key = *known;
    return;
  }
  insert_row(tx.db(), kInsertStatement, kStatementColumns, row);
  row.key = tx.db().last_insert_key();
}

BankStatementRow bank_statement(Connection& db, std::int64_t key) {
  require_intact(db, "bank_statements", key);
  return only_row<BankStatementRow>(db, kStatementByKey, kStatementColumns, key);
}

std::string mark_of(std::string_view account, const BankLine& line, int occurrence,
                    std::string_view of) {
  std::string text(account);
  for (const auto& part : {std::to_string(line.booked_on.ms), std::to_string(line.amount.units()),
                           line.currency, line.bank_reference}) {
    text.append(1, '\0').append(part);
  }
  if (line.bank_reference.empty()) {
    for (const auto& part : {line.reference, line.text, line.party_name})
      text.append(1, '\0').append(part);
  }
  // The first with a reference has the mark that it had before references could repeat.
  if (line.bank_reference.empty() || occurrence > 1 || !of.empty())
    text.append(1, '\0').append(std::to_string(occurrence));
  if (!of.empty()) text.append(1, '\0').append(of);
  return std::string(as_text(sha256(text)).substr(0, 16));
}

std::vector<Row> equal_bank_lines(Connection& db, Environment environment, std::string_view account,
                                  const BankLine& line) {
  std::vector<Row> out;
  for (int occurrence = 1;; ++occurrence) {
    const std::string mark = mark_of(account, line, occurrence);
    const auto key = first_integer(db, kKnownMark, environment, Blob{mark});
    if (!key) return out;
    require_intact(db, "bank_lines", *key, {{"mark", Blob{mark}}});
    out.push_back(only_row<Row>(db, kLineByKey, kLineColumns, *key));
  }
}

std::vector<std::int64_t> lines_without_balances(Connection& db, Environment environment,
                                                 std::string_view account,
                                                 std::string_view currency, Timestamp first,
                                                 Timestamp last) {
  return all_of<std::int64_t, std::int64_t>(db, kWithoutBalances, environment, account, currency,
                                            first, last);
}

bool insert_bank_line(WriteTx& tx, BankLineRow& row, const std::string& mark) {
  if (first_integer(tx.db(), kKnownMark, row.environment, Blob{mark})) return false;
  row.imported_at = tx.now();
  insert_row(tx.db(), kInsertLine, kLineColumns, row, Blob{mark});
  row.key = tx.db().last_insert_key();
  return true;
}

std::optional<BankLineRow> find_bank_line(Connection& db, BankLineId id) {
  auto row = first_row<Row>(db, kLineById, kLineColumns, id);
  if (row) require_intact(db, "bank_lines", row->key, {{"id", id}});
  return row;
}

RowPage<BankLineRow> list_bank_lines(Connection& db, std::optional<LineState> state,
                                     std::optional<std::int64_t> connector, const PageAt& page) {
  KeyWalk walk(db, page);
  const auto row_of = [&](std::int64_t key) {
    return only_row<Row>(db, kLineByKey, kLineColumns, key);
  };
  const auto fits = [&](std::int64_t key) {
    const Row row = row_of(key);
    return (!state || row.state == *state) && (!connector || row.counts_for == *connector);
  };
  const KeySource source = state ? walk.along(kLinesInState, *state) : walk.along(kAllLines);
  return walk.rows({{source}}, fits, row_of);
}

std::vector<OpenLine> open_bank_lines(Connection& db, Environment environment, std::int64_t limit) {
  auto out = all_rows<OpenLine>(Query(db, kOpen.c_str(), environment, limit), kOpenColumns);
  std::unordered_map<std::int64_t, std::vector<std::int64_t>> undone;
  for (Query query(db, kUndone, environment); query.step();)
    undone[query.integer(0)].push_back(query.integer(1));
  for (OpenLine& line : out) {
    if (const auto found = undone.find(line.key); found != undone.end())
      line.undone = found->second;
  }
  return out;
}

OldLines old_bank_lines(Connection& db, Timestamp before, std::int64_t limit) {
  Query query(db, kOld, before, limit);
  query.step();
  return {query.integer(0), query.optional_time(1)};
}

LineState line_state(Connection& db, std::int64_t line) {
  return only_row<Row>(db, kLineByKey, kLineColumns, line).state;
}

void set_line_state(WriteTx& tx, std::int64_t line, LineState state) {
  tx.db().run("UPDATE bank_lines SET state = ? WHERE bank_line = ?", state, line);
}

std::vector<OfferRow> offers_of(Connection& db, std::int64_t line) {
  std::vector<OfferRow> out;
  for (Query query(db, kOffers, line); query.step();) {
    out.push_back({{query.enumeration<MatchKind>(0), query.integer(1), query.optional_integer(2),
                    query.enumeration<MatchRule>(3)},
                   query.id<PaymentId>(4)});
  }
  return out;
}

void replace_offers(WriteTx& tx, std::int64_t line, const std::vector<MatchChoice>& choices) {
  tx.db().run("DELETE FROM bank_offers WHERE bank_line = ?", line);
  std::int64_t position = 0;
  for (const MatchChoice& one : choices) {
    tx.db().run(kInsertOffer, line, position++, one.kind, one.payment, one.refund, one.rule);
  }
}

std::optional<CsvMappingRow> find_csv_mapping(Connection& db, std::string_view name) {
  return first_row<CsvMappingRow>(db, kMappingByName, kMappingColumns, name);
}

std::vector<CsvMappingRow> list_csv_mappings(Connection& db) {
  return all_rows<CsvMappingRow>(Query(db, kMappings.c_str()), kMappingColumns);
}

void set_csv_mapping(WriteTx& tx, const CsvMappingRow& row) {
  tx.db().run(
      "INSERT INTO csv_mappings VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (name) DO UPDATE SET"
      " columns = excluded.columns, separator = excluded.separator,"
      " decimal = excluded.decimal, date = excluded.date, updated_at = excluded.updated_at",
      row.name, row.columns, row.separator, row.decimal, row.date, tx.now());
}

}  // namespace coffer::store
