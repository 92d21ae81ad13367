// CSV files with a mapping of their columns.
#include <algorithm>
#include <array>

#include "base/files/csv_rows.h"
#include "base/text/ascii.h"
#include "base/text/join.h"
#include "base/text/next_part.h"
#include "base/text/unicode.h"
#include "base/text/whole_number.h"
#include "domain/reconciliation/bank_statement.h"

namespace coffer {
namespace {

constexpr std::array<std::string_view, 15> kCsvMembers{
    "bookingDate",   "valueDate", "amount",       "debit",     "credit",
    "charges",       "currency",  "account",      "reference", "text",
    "bankReference", "partyName", "partyAccount", "code",      "direction"};

// Words of banks for directions. Others are refused.
constexpr std::string_view kDebitWords = " D DR DBIT DEBIT DEBET AF S SOLL - ";
constexpr std::string_view kCreditWords = " C CR CRDT CREDIT BIJ H HABEN K + ";

class StatementCsvReader {
 public:
  StatementCsvReader(std::string_view text, const CsvMapping& mapping)
      : text_(text), mapping_(mapping) {}

  Result<StatementFile> read() {
    COFFER_TRY(const auto rows, csv_rows(text_, mapping_.separator));
    if (rows.empty()) return refused_at(1, "The file has no line with the names of its columns");
    if (rows.size() > kStatementLinesMax)
      return refused_at(1, "The file has more than 500,000 lines. Split it into several files");
    COFFER_TRY_VOID(find_columns(rows.front()));
    for (std::size_t i = 1; i < rows.size(); ++i)
      COFFER_TRY_VOID(read_row(rows[i], rows.front().cells.size()));
    StatementFile out;
    for (auto& [account, statement] : statements_) out.statements.push_back(std::move(statement));
    out.note("Value dates that do not exist, such as 30 February, were left out", left_out_);
    return out;
  }

 private:
  Result<void> find_columns(const CsvRow& header) {
    for (const auto& [member, column] : mapping_.columns) {
      if (column.starts_with('=')) continue;
      const auto is_it = [&](const std::string& cell) {
        return without_outer_space(cell) == column;
      };
      const auto found = std::ranges::find_if(header.cells, is_it);
      if (found == header.cells.end())
        return refused_at(header.line, "There is no column \"" + statement_text(column) +
                                           "\", which the mapping has for " + member);
      if (std::ranges::count_if(header.cells, is_it) > 1)
        return refused_at(header.line,
                          "The column \"" + statement_text(column) + "\" is there twice");
      places_[member] = static_cast<std::size_t>(found - header.cells.begin());
    }
    return {};
  }

  std::string cell(const CsvRow& row, const std::string& member) const {
    const auto mapped = mapping_.columns.find(member);
    if (mapped == mapping_.columns.end()) return {};
    if (mapped->second.starts_with('=')) return mapped->second.substr(1);
    return std::string(without_outer_space(row.cells[places_.at(member)]));
  }

  /// With the sign that the cell has.
  Result<Amount> signed_cell(const CsvRow& row, const std::string& member) const {
    std::string text = cell(row, member);
    const bool negative = text.starts_with('-') || text.ends_with('-');
    if (text.starts_with('-') || text.starts_with('+')) text.erase(0, 1);
    if (text.ends_with('-')) text.pop_back();
    COFFER_TRY(const Amount amount, stated_amount(text, mapping_.decimal, row.line));
    return negative ? -amount : amount;
  }

  Result<Amount> amount_of(const CsvRow& row) {
    if (mapping_.columns.contains("direction")) {
      COFFER_TRY(const Amount amount, signed_cell(row, "amount"));
      const std::string word = " " + ascii::to_upper(cell(row, "direction")) + " ";
      const bool debit = kDebitWords.find(word) != std::string_view::npos;
      if (!debit && kCreditWords.find(word) == std::string_view::npos)
        return refused_at(row.line, "The direction says neither debit nor credit");
      if (amount.is_negative()) return refused_at(row.line, "The line has a direction and a sign");
      return debit ? -amount : amount;
    }
    if (mapping_.columns.contains("amount")) return signed_cell(row, "amount");
    const bool paid = !cell(row, "debit").empty();
    if (paid == !cell(row, "credit").empty())
      return refused_at(row.line, "The line must have either a debit or a credit");
    COFFER_TRY(const Amount amount, signed_cell(row, paid ? "debit" : "credit"));
    if (!paid && amount.is_negative()) return refused_at(row.line, "The credit is negative");
    // Some banks write debits with a sign, but then all of them.
    if (paid && !amount.is_zero() &&
        amount.is_negative() != debits_have_sign_.value_or(amount.is_negative()))
      return refused_at(row.line, "Some debits have a sign, and others none");
    if (paid && !amount.is_zero()) debits_have_sign_ = amount.is_negative();
    return paid && !amount.is_negative() ? -amount : amount;
  }

  Result<std::optional<Timestamp>> day_of(const CsvRow& row, const std::string& member) {
    const std::string text = cell(row, member);
    if (text.empty()) return std::optional<Timestamp>();
    std::map<char, std::string> parts;
    bool fits = text.size() >= mapping_.date.size();
    for (std::size_t i = 0; fits && i < mapping_.date.size(); ++i) {
      const char mark = mapping_.date[i];
      if (mark == 'Y' || mark == 'M' || mark == 'D') {
        fits = ascii::is_digit(text[i]);
        parts[mark] += text[i];
      } else {
        fits = text[i] == mark;
      }
    }
    // A time may follow the date.
    if (!fits ||
        (text.size() > mapping_.date.size() && ascii::is_digit(text[mapping_.date.size()]))) {
      return refused_at(row.line, "\"" + statement_text(text.substr(0, 40)) +
                                      "\" is not a date like " + mapping_.date);
    }
    const std::string century = parts['Y'].size() == 2 ? "20" : "";
    auto day = stated_day(century + parts['Y'], parts['M'], parts['D'], row.line);
    // Banks that count 30 days for every month.
    if (!day && member == "valueDate" && parts['M'] == "02" && parts['D'] < "31")
      return ++left_out_, std::optional<Timestamp>();
    COFFER_TRY(const Timestamp found, std::move(day));
    return std::optional(found);
  }

  Result<void> read_row(const CsvRow& row, std::size_t cells) {
    if (row.cells.size() != cells)
      return refused_at(row.line, "The line has " + std::to_string(row.cells.size()) +
                                      " cells; expected " + std::to_string(cells));
    BankLine line;
    line.line = row.line;
    COFFER_TRY(const auto booked, day_of(row, "bookingDate"));
    COFFER_TRY(line.value_on, day_of(row, "valueDate"));
    if (!booked && !line.value_on) return refused_at(row.line, "The line has no date");
    line.booked_on = booked ? *booked : *line.value_on;
    COFFER_TRY(line.amount, amount_of(row));
    if (!cell(row, "charges").empty()) {
      COFFER_TRY(line.charges, signed_cell(row, "charges"));
      if (line.charges.is_negative()) line.charges = -line.charges;
    }
    line.currency = ascii::to_upper(cell(row, "currency"));
    if (!is_statement_currency(line.currency))
      return refused_at(row.line, "\"" + statement_text(line.currency) + "\" is not a currency");
    line.bank_reference = stated_reference(cell(row, "bankReference"));
    line.reference = stated_reference(cell(row, "reference"));
    line.text = statement_text(cell(row, "text"));
    line.party_name = statement_text(cell(row, "partyName"));
    line.party_account = statement_text(cell(row, "partyAccount"));
    line.code = statement_text(cell(row, "code"));
    const std::string account = statement_text(cell(row, "account"));
    BankStatement& statement = statements_[account + ' ' + line.currency];
    if (statement.lines.empty()) {
      statement.line = row.line;
      statement.account = account.empty() ? "CSV" : account;
      statement.currency = line.currency;
    }
    statement.lines.push_back(std::move(line));
    return {};
  }

  std::string_view text_;
  const CsvMapping& mapping_;
  std::map<std::string, std::size_t> places_;  // of columns, by member
  std::optional<bool> debits_have_sign_;
  std::size_t left_out_ = 0;                         // value dates
  std::map<std::string, BankStatement> statements_;  // by account and currency
};

Unexpected bad_mapping(const std::string& what) {
  return unexpected(Slug::malformed_request, what);
}

}  // namespace

Result<CsvMapping> CsvMapping::parse(std::string_view columns, std::string_view separator,
                                     std::string_view decimal, std::string_view date) {
  CsvMapping out;
  for (const std::string& one : parts_of(columns, ',')) {
    const std::size_t equals = one.find('=');
    const std::string member = one.substr(0, equals);
    if (equals == std::string::npos || equals + 1 == one.size())
      return bad_mapping("--columns: \"" + one + "\" is not MEMBER=COLUMN.");
    if (std::ranges::find(kCsvMembers, member) == kCsvMembers.end())
      return bad_mapping("--columns: \"" + member + "\" is not one of " + join(kCsvMembers, ", ") +
                         ".");
    if (!out.columns.try_emplace(member, one.substr(equals + 1)).second)
      return bad_mapping("--columns has " + member + " twice.");
  }
  const bool both = out.columns.contains("debit") && out.columns.contains("credit");
  const bool either = out.columns.contains("debit") || out.columns.contains("credit");
  const bool has_amount =
      out.columns.contains("amount") ? !either : both && !out.columns.contains("direction");
  if (!out.columns.contains("bookingDate") || !has_amount || !out.columns.contains("currency"))
    return bad_mapping(
        "--columns must have bookingDate, currency (such as currency==EUR), and either amount, or "
        "debit and credit.");
  if (const std::string& currency = out.columns["currency"];
      currency.starts_with('=') && !is_statement_currency(ascii::to_upper(currency.substr(1)))) {
    return bad_mapping("--columns: \"" + currency.substr(1) + "\" is not a currency.");
  }
  if (separator == "tab") separator = "\t";
  if (separator.size() != 1 || separator == "\"" || separator == "\n" || separator == "\r")
    return bad_mapping("--separator must be one character, or tab.");
  if (decimal != "." && decimal != ",") return bad_mapping("--decimal must be . or a comma.");
  const bool whole = std::ranges::count(date, 'D') == 2 && std::ranges::count(date, 'M') == 2 &&
                     (std::ranges::count(date, 'Y') == 4 || std::ranges::count(date, 'Y') == 2);
  if (!whole || date.size() > 10)
    return bad_mapping("--date must have YYYY or YY, MM and DD, such as DD.MM.YYYY.");
  if (separator == decimal) return bad_mapping("--separator and --decimal must differ.");
  out.separator = separator.front();
  out.decimal = decimal.front();
  out.date = date;
  return out;
}

Result<StatementFile> read_statement_csv(std::string_view text, const CsvMapping& mapping) {
  return StatementCsvReader(text, mapping).read();
}

}  // namespace coffer
