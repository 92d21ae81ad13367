// Reports whose columns add: the movements of the accounts of connectors, fees and conversions
// (docs/operating.md#reports). Amounts are those of the ledger.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "store/operations/books.h"

namespace coffer::store {

/// The entries of these entry sets. Each entry of the accounts of a report is in one column.
struct ReportColumn {
  std::string_view name;
  JournalKind kind = JournalKind::payment;
  unsigned types = 0;  // of their payments, as from values_that(); 0: they have no payment
};
inline constexpr std::size_t kReportColumnsMax = 4;

struct ReportTerms {
  std::string_view name;
  AccountKind accounts = AccountKind::clearing;
  bool by_pair = false;  // a row for each pair of assets, otherwise for each day
  std::span<const ReportColumn> columns;
};
enum class Report { settlement, fees, conversion };
const ReportTerms& terms_of(Report report);

/// The part of the entries that a report is about; row keys.
struct ReportShare {
  std::optional<std::int64_t> tenant;     // of the payments
  std::optional<std::int64_t> connector;  // of the payments
};

/// `opening` and the columns add up to `closing`, which is the `opening` of the next row of the
/// account. The first row opens with the balance at the start of the period, and the last closes
/// with that at its end; of a share, with the sum of its earlier entries.
struct ReportRow {
  BookAccount account;
  Timestamp day;
  std::string sold;  // codes of a pair; empty: no conversion
  std::string bought;
  Amount opening;
  std::array<Amount, kReportColumnsMax> moved{};
  std::int64_t entries = 0;
  Amount closing;
};

/// Rows of the accounts in the order of their creation, then by day or pair. A balance without a
/// movement has one row. Compares every sum with the balances in the journal: `unexpected-error` if
/// one differs, or an entry is in no column. Reads the entries of the period by account; of a
/// share, also the earlier ones.
Result<std::vector<ReportRow>> report_rows(Connection& db, Report report, const BookPeriod& period,
                                           const ReportShare& share);

}  // namespace coffer::store
