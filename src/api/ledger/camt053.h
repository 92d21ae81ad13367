// A statement as ISO 20022 camt.053.001.08, a format for accounting systems. The document is
// written in three parts, so a long statement needs little memory.
//
// Limitations of the format:
// - Currencies have three letters. An asset with such a code is written as that currency, any other
//   as `XXX` (ISO 4217: no currency). `Acct/Tp/Prtry` and `AddtlStmtInf` always contain the asset
//   code.
// - Amounts have five decimal places. Balances are truncated to five places, and the amount of an
//   entry is the difference of the balances around it, so the amounts add up. If this is not the
//   exact amount, `AddtlNtryInf` contains the exact one.
// - Identifiers have 35 characters: `AcctSvcrRef` is the transactionRecordId without hyphens.
#pragma once

#include <string>

#include "domain/ledger/money.h"
#include "domain/ledger/statement.h"

namespace coffer::api {

/// The data of a statement that is known before its lines.
struct CamtStatement {
  std::string message_id;    // 1-35 characters, different for every document
  std::string statement_id;  // 1-35 characters, identical for the same account and period
  Timestamp created;
  Timestamp start;  // inclusive
  Timestamp end;    // exclusive
  std::string account_number;
  std::string account_name;
  AssetCode asset;
  int decimals = 7;
  Amount opening;
  Amount closing;
};

/// The part before the first entry, including both balances.
std::string camt053_opening(const CamtStatement& statement);
/// Appends one `Ntry`. Its `NtryRef` is the rowId of the line.
void append_camt053_entry(std::string& out, const CamtStatement& statement,
                          const StatementLine& line);
/// The part after the last entry.
std::string camt053_closing(const CamtStatement& statement);

/// Text as XML content, at most `max` characters: markup is escaped, white space other than blanks
/// becomes a character reference, and characters not allowed in XML 1.0 become U+FFFD. `text` is
/// UTF-8.
std::string xml_text(std::string_view text, std::size_t max);

}  // namespace coffer::api
