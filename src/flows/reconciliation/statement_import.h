// Imports statements of banks and providers, and matches their lines with payments
// (docs/operating.md#reconciliation).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "domain/identity/operators.h"
#include "flows/context.h"
#include "store/reconciliation/bank_lines.h"
#include "store/reconciliation/bank_matches.h"

namespace coffer::flows {

struct StatementToImport {
  std::int64_t connector = 0;
  Environment environment = Environment::sandbox;
  std::string_view content;
  std::optional<StatementFormat> format;  // empty: by its content
  CsvMapping mapping;
};
struct MatchCounts {
  std::int64_t matched = 0;
  std::int64_t offered = 0;
};
struct StatementImport {
  StatementFormat format = StatementFormat::camt;
  std::int64_t lines = 0;                // in the file
  std::int64_t stored = 0;               // that no earlier file had
  std::int64_t completed = 0;            // known ones that got their parts or reference
  std::optional<Timestamp> known_since;  // the same file was imported then
  bool moved = false;                    // and its lines count for another connector now
  MatchCounts counts;                    // among all open lines
  std::vector<std::string> notes;
};
/// Stores the new lines in several commits, then matches all open lines. An entry is known if a
/// stored one of the account has its mark, unless both are of one file, or balances or pages show
/// that their statements do not overlap. An import that did not end continues when it is repeated.
/// The connector gets the lines of the file without a match. `malformed-request` with the line for
/// a file that cannot be read; nothing is stored then.
Result<StatementImport> import_statement(const Context& context, const StatementToImport& file,
                                         const Actor& by);

/// Matches the open lines of an environment with payments through any connector, because an account
/// can serve several, in several commits. Reads each payment of the days around the lines once.
Result<MatchCounts> match_open_lines(const Context& context, Environment environment,
                                     const Actor& by);

/// Matches a line with a payment by an operator's decision: with the part of it that has the amount
/// of the line, and otherwise with the payment itself. `not-found`; `conflict` if the line is
/// matched, or the payment is one of another environment or not through a provider; unless
/// `although` they differ, also for what reason_against() says.
Result<void> match_line(const Context& context, BankLineId line, PaymentId payment,
                        const std::string& reason, bool although, const Actor& by);
/// Undoes the matches of a line by further rows. `not-found`; `conflict` if it is not matched.
Result<void> unmatch_line(const Context& context, BankLineId line, const std::string& reason,
                          const Actor& by);

/// Stores a mapping under a name, in place of an earlier one. `malformed-request`.
Result<void> save_csv_mapping(const Context& context, const store::CsvMappingRow& row);
/// The mapping with this name; without a name, the one whose columns have the names of their
/// members. `not-found`.
Result<CsvMapping> csv_mapping_named(const Context& context,
                                     const std::optional<std::string>& name);

}  // namespace coffer::flows
