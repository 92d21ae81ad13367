#include "store/operations/reports.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "base/platform/exit_code.h"
#include "domain/payments/limit.h"
#include "store/rows/columns.h"

namespace coffer::store {
namespace {

constexpr unsigned kPayouts = values_that(is_payout);
constexpr unsigned kCollections = values_that(is_collection);
constexpr unsigned kSwaps = values_that(is_swap);
constexpr ReportColumn kSettlementColumns[] = {{"payouts", JournalKind::payment, kPayouts},
                                               {"collections", JournalKind::payment, kCollections},
                                               {"returns", JournalKind::refund, kPayouts},
                                               {"refunds", JournalKind::refund, kCollections}};
constexpr ReportColumn kFeeColumns[] = {{"charged", JournalKind::payment, kPayouts},
                                        {"givenBack", JournalKind::refund, kPayouts}};
constexpr ReportColumn kConversionColumns[] = {{"added", JournalKind::liquidity, 0},
                                               {"converted", JournalKind::payment, kSwaps},
                                               {"reversed", JournalKind::refund, kSwaps}};
constexpr ReportTerms kReports[] = {
    {"settlement", AccountKind::clearing, false, kSettlementColumns},
    {"fees", AccountKind::fee, false, kFeeColumns},
    {"conversion", AccountKind::liquidity, true, kConversionColumns}};

constexpr const char* kNextMoved =
    "SELECT j.at FROM entries e INDEXED BY entries_of_account"
    " CROSS JOIN journal j ON j.journal = e.entry / 1024"
    " WHERE e.account = ?1 AND e.entry >= ?2 AND e.entry < ?3 ORDER BY e.entry LIMIT 1";
constexpr const char* kMoved =
    "SELECT kind, type, (SELECT s.code FROM assets s WHERE s.asset = sold),"
    " (SELECT s.code FROM assets s WHERE s.asset = bought), sum(amount), sum(iif(mine, amount, 0)),"
    " sum(mine) FROM (SELECT j.kind, p.type, p.sending_asset AS sold, p.receiving_asset AS bought,"
    "  e.amount, (?4 IS NULL OR j.tenant = ?4) AND (?5 IS NULL OR p.connector IS ?5) AS mine"
    "  FROM entries e INDEXED BY entries_of_account"
    "  CROSS JOIN journal j ON j.journal = e.entry / 1024"
    "  LEFT JOIN payments p ON p.payment = j.payment"
    "  WHERE e.account = ?1 AND e.entry >= ?2 AND e.entry < ?3) GROUP BY kind, type, sold, bought";

bool contains(const ReportColumn& column, JournalKind kind, std::optional<PaymentType> type) {
  return column.kind == kind &&
         (type ? (column.types >> stored(*type) & 1U) != 0 : column.types == 0);
}

/// The rows of one account, in order.
class AccountReport {
 public:
  AccountReport(Connection& db, const ReportTerms& terms, const BookPeriod& period,
                const ReportShare& share, const BookAccount& account)
      : db_(db), terms_(terms), period_(period), share_(share), account_(account) {}

  Result<void> add_to(std::vector<ReportRow>& out) {
    const bool whole = !share_.tenant && !share_.connector;
    if (whole) balance_ = mine_ = account_.opening;
    EntryRange left{whole ? period_.entries.from : 0, period_.entries.to};
    while (const auto at = first_time(db_, kNextMoved, account_.key, left.from, left.to)) {
      const Timestamp day = day_start(*at);
      const bool is_before = day < period_.start;  // only of a share
      EntryRange piece{left.from, period_.entries.from};
      if (!is_before) piece.to = std::min(left.to, entries_between(db_, day, next(day)).to);
      COFFER_TRY_VOID(add(piece, day, is_before));
      left.from = piece.to;
    }
    if (rows_.empty() && !mine_.is_zero()) row(period_.start, {}, {});
    for (auto& [key, row] : rows_) {
      row.opening = mine_;
      for (const Amount moved : row.moved) mine_ = mine_ + moved;
      row.closing = mine_;
      out.push_back(row);
    }
    if (balance_ != account_.closing || (whole && mine_ != account_.closing)) {
      return differs("its balance at the end of the period is not the sum of its entries");
    }
    return {};
  }

 private:
  static Timestamp next(Timestamp day) { return day.plus_ms(kDayMs); }

  ReportRow& row(Timestamp day, const std::string& sold, const std::string& bought) {
    ReportRow made{account_, day, sold, bought, {}, {}, 0, {}};
    return rows_.try_emplace({day.ms, sold, bought}, std::move(made)).first->second;
  }

  Result<void> add(const EntryRange& piece, Timestamp day, bool is_before) {
    for (Query query(db_, kMoved, account_.key, piece.from, piece.to, share_.tenant,
                     share_.connector);
         query.step();) {
      const auto kind = query.enumeration<JournalKind>(0);
      const auto type =
          query.is_null(1) ? std::nullopt : std::optional(query.enumeration<PaymentType>(1));
      const auto column = std::ranges::find_if(
          terms_.columns, [&](const ReportColumn& one) { return contains(one, kind, type); });
      if (column == terms_.columns.end()) return differs("an entry is in no column", day);
      balance_ = balance_ + query.amount(4);
      if (is_before) {
        mine_ = mine_ + query.amount(5);
      } else if (query.integer(6) > 0) {
        const bool pair = terms_.by_pair && type;
        ReportRow& to = row(terms_.by_pair ? Timestamp() : day, pair ? query.text(2) : "",
                            pair ? query.text(3) : "");
        Amount& moved = to.moved[static_cast<std::size_t>(column - terms_.columns.begin())];
        moved = moved + query.amount(5);
        to.entries += query.integer(6);
      }
    }
    if (balance_ == balance_before(db_, account_.key, piece.to)) return {};
    return differs("its balance is not the sum of its entries", day);
  }

  Result<void> differs(const std::string& why, std::optional<Timestamp> day = {}) const {
    return unexpected(Problem(Slug::unexpected_error,
                              "The report does not add up. Of the account " +
                                  std::string(name(account_.kind)) + " in " + account_.asset_code +
                                  (day ? " on " + day->to_string().substr(0, 10) : "") + ", " +
                                  why + ". Verify the database with coffer verify.")
                          .exits_with(exit_code::kFault));
  }

  Connection& db_;
  const ReportTerms& terms_;
  const BookPeriod& period_;
  const ReportShare& share_;
  const BookAccount& account_;
  Amount balance_;  // of the account
  Amount mine_;     // of the share
  std::map<std::tuple<std::int64_t, std::string, std::string>, ReportRow> rows_;
};

}  // namespace

const ReportTerms& terms_of(Report report) { return kReports[static_cast<std::size_t>(report)]; }

Result<std::vector<ReportRow>> report_rows(Connection& db, Report report, const BookPeriod& period,
                                           const ReportShare& share) {
  const ReportTerms& terms = terms_of(report);
  std::vector<ReportRow> out;
  for (const BookAccount& account : operator_book_accounts(db, period, terms.accounts)) {
    COFFER_TRY_VOID(AccountReport(db, terms, period, share, account).add_to(out));
  }
  return out;
}

}  // namespace coffer::store
