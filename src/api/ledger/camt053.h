// A statement as ISO 20022 camt.053.001.08, the format accounting systems read: three pieces that
// make one document when they are written one after the other, so that a long statement needs no
// memory.
//
// What the format cannot say as it is:
// - Currencies have three letters. An asset whose code is of that form is its own currency; any
// other is
//   `XXX` (ISO 4217: no currency), and `Acct/Tp/Prtry` and `AddtlStmtInf` always name the asset.
// - Amounts have five places. Balances are cut to five, and an entry's amount is the difference of
// the
//   balances around it, so everything still adds up; where that is not the exact amount,
//   `AddtlNtryInf` has it.
// - Identifiers have 35 characters: `AcctSvcrRef` is the transactionRecordId without its hyphens.
#pragma once

#include <string>

#include "domain/ledger/money.h"
#include "domain/ledger/statement.h"

namespace coffer::api {

/// What is known of a statement before its lines are.
struct CamtStatement {
  std::string message_id;    // 1-35 characters, another one for every document
  std::string statement_id;  // 1-35 characters, the same for the same account and range
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

/// Everything before the first entry, both balances included.
std::string camt053_opening(const CamtStatement& statement);
/// Appends one `Ntry`; its `NtryRef` is the line's rowId.
void append_camt053_entry(std::string& out, const CamtStatement& statement,
                          const StatementLine& line);
/// Everything after the last entry.
std::string camt053_closing(const CamtStatement& statement);

/// Text as XML content: markup is escaped, white space other than a blank is kept as a reference,
/// and what XML 1.0 has no place for becomes U+FFFD. Not more than `max` characters. `text` is
/// UTF-8.
std::string xml_text(std::string_view text, std::size_t max);

}  // namespace coffer::api
