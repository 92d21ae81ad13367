// Statements of banks and providers: camt.053 and camt.054 (ISO 20022), MT940 (SWIFT), and CSV with
// a mapping of its columns. Pure readers of untrusted files: a file is read completely, or refused
// with a line and a reason.
//
// Only booked entries become lines. What is skipped, and what is assumed, is in the notes. Where a
// statement has an opening and a closing balance, its lines add up to their difference; otherwise
// the file is refused. A statement that the file has twice is read once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "domain/ledger/money.h"
#include "domain/tables/terms.h"

namespace coffer {

/// The store keeps it as an integer: append, never reorder.
enum class StatementFormat { camt, mt940, csv };
template <>
struct Terms<StatementFormat> {
  static constexpr auto rows = std::to_array<Term>(
      {{"camt", "ISO 20022 (camt.053, camt.054)"}, {"mt940", "MT940"}, {"csv", "CSV"}});
};

inline constexpr std::size_t kStatementBytesMax = 64UL * 1024 * 1024;
inline constexpr std::size_t kStatementLinesMax = 500'000;
/// Longer texts of a line are cut.
inline constexpr std::size_t kStatementTextMax = 1'000;

/// An amount with its currency, as the bank states it beside the booked one.
struct StatedAmount {
  Amount amount;
  std::string currency;
};

/// A booked entry. Texts are UTF-8 without control characters; empty: not in the file.
struct BankLine {
  std::size_t line = 1;  // of the file, from 1
  Timestamp booked_on;   // midnight UTC of the bank's day
  std::optional<Timestamp> value_on;
  Amount amount;   // negative: debited; never zero
  Amount charges;  // which the bank deducted, in the same currency
  std::string currency;
  std::optional<StatedAmount> original;  // before the bank converted it; never negative
  std::string bank_reference;            // which the bank gave it
  std::string reference;                 // end-to-end: of the sender of the payment
  std::string text;                      // remittance information
  std::string party_name;                // the other party
  std::string party_account;
  std::string code;                  // of the type of transaction, as the bank writes it
  std::optional<std::size_t> batch;  // of the statement, which this line is a part of
};

struct BankStatement {
  std::size_t line = 1;  // of the file
  std::string account;   // IBAN or another number
  std::string id;
  std::string number;  // which its pages share; with `page`, it identifies the statement
  std::string page;
  std::string currency;
  std::optional<StatedAmount> opening;  // may be negative
  std::optional<StatedAmount> closing;
  std::vector<BankLine> lines;
  std::vector<BankLine> batches;  // entries whose transactions are lines
};

struct StatementFile {
  StatementFormat format = StatementFormat::csv;
  std::vector<BankStatement> statements;
  std::vector<std::string> notes;  // sentences

  std::size_t line_count() const;
  /// Nothing for a count of 0.
  void note(const std::string& what, std::size_t count);
};

/// What tells the entries of a stored statement from equal ones of another.
struct StatementSpan {
  std::int64_t file = 0;
  std::int64_t position = 0;  // in the file
  std::string number;
  std::string page;
  std::string currency;
  std::optional<Amount> opening;
  std::optional<Amount> closing;
  std::optional<Timestamp> first_day;  // of its lines
  std::optional<Timestamp> last_day;
};
/// Without its place.
StatementSpan span_of(const BankStatement& statement);
/// Whether equal entries of two statements of an account are different entries, because the
/// statements do not overlap. Otherwise they may be the same ones.
bool are_apart(const StatementSpan& one, const StatementSpan& other);

/// Which column of a CSV file has which part of a line, such as
/// `bookingDate=Buchungstag,amount=Betrag,currency==EUR`: a value that begins with `=` is the same
/// for all lines.
struct CsvMapping {
  std::map<std::string, std::string> columns;  // by member
  char separator = ',';
  char decimal = '.';
  std::string date = "YYYY-MM-DD";  // Y, M and D in their places

  /// `malformed-request` for an unknown member, or without a date or an amount.
  static Result<CsvMapping> parse(std::string_view columns, std::string_view separator,
                                  std::string_view decimal, std::string_view date);
};

/// Three letters in upper case.
bool is_statement_currency(std::string_view text);
/// The text in UTF-8. Bytes that are not are Windows-1252, which ISO 8859-1 is a part of, or what
/// the XML says: ISO 8859-15.
std::string utf8_of(std::string bytes);
/// By its first characters.
StatementFormat statement_format_of(std::string_view text);

/// Reads a file. `malformed-request` names the line.
Result<StatementFile> read_statement_file(std::string_view text, StatementFormat format,
                                          const CsvMapping& mapping);

// The parts of it, which do not compare the balances.
Result<StatementFile> read_camt(std::string_view text);
Result<StatementFile> read_mt940(std::string_view text);
Result<StatementFile> read_statement_csv(std::string_view text, const CsvMapping& mapping);

/// `Line 12: REASON.`
Unexpected refused_at(std::size_t line, const std::string& reason);
/// An amount without a sign, such as `1234,5` or `1234,`. Refused beyond seven places.
Result<Amount> stated_amount(std::string_view text, char decimal, std::size_t line);
/// Year, month and day, with all their digits. Refused for a day that does not exist.
Result<Timestamp> stated_day(const std::string& year, std::string_view month, std::string_view day,
                             std::size_t line);
/// A text of the file for a line: on one line, without control characters, cut.
std::string statement_text(std::string_view text);
/// Empty for a placeholder such as NONREF or NOTPROVIDED.
std::string stated_reference(std::string_view text);
/// Adds a part to a text.
void append_statement_text(std::string& text, std::string_view part);

}  // namespace coffer
