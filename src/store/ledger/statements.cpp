#include "store/ledger/statements.h"

#include "base/digest.h"
#include "domain/payments/payment.h"
#include "store/rows/columns.h"
#include "store/rows/key_walk.h"

namespace coffer::store {
namespace {

/// A line, with the sources of its texts.
struct LineRow {
  StatementLine line;
  std::string link;  // of its entry set
  AccountKind counterparty_kind = AccountKind::wallet;
  JournalKind kind = JournalKind::payment;
  std::string provider;  // or the payer whom it named
};

constexpr const char* kLastJournal = "SELECT coalesce(max(journal), 0) FROM journal";
constexpr const char* kBalanceBefore =
    "SELECT balance_after FROM entries WHERE account = ? AND entry < ? ORDER BY entry DESC LIMIT 1";
// Rarely used columns are read by subqueries only for the lines that have them, because a statement
// may have a million lines. Another tenant's wallet name stays private: the payer sees the
// beneficiary's name, and the receiver sees who paid.
constexpr Column<LineRow> kLineColumns[] = {
    joined<&LineRow::line, &StatementLine::entry>("e.entry"),
    joined_blob<&LineRow::link>("j.link"),
    joined<&LineRow::line, &StatementLine::at>("j.at"),
    joined<&LineRow::line, &StatementLine::amount>("e.amount"),
    joined<&LineRow::line, &StatementLine::running_balance>("e.balance_after"),
    joined<&LineRow::line, &StatementLine::payment>("CASE WHEN p.tenant = t.tenant THEN p.id END"),
    joined<&LineRow::line, &StatementLine::metadata>(
        "CASE WHEN p.tenant = t.tenant AND json_valid(p.metadata) THEN p.metadata END"),
    joined<&LineRow::line, &StatementLine::description>(
        "CASE WHEN p.payment IS NULL"
        " THEN (SELECT f.description FROM fundings f WHERE f.journal = j.journal)"
        " WHEN p.type = 2 THEN (SELECT l.description FROM payment_legs l"
        " WHERE l.payment = j.payment AND l.leg = e.leg) ELSE p.description END"),
    joined<&LineRow::line, &StatementLine::reference>(
        "CASE WHEN p.type = 2"
        " THEN (SELECT CASE WHEN e.amount < 0 THEN l.from_ref ELSE l.to_ref END"
        " FROM payment_legs l WHERE l.payment = j.payment AND l.leg = e.leg)"
        " WHEN (e.amount < 0) <> (j.kind = 3) THEN p.from_ref ELSE p.to_ref END"),
    joined<&LineRow::line, &StatementLine::counterparty>(
        "CASE WHEN c.tenant = t.tenant THEN w.name WHEN c.kind <> 0 OR e.amount < 0"
        " THEN (SELECT coalesce(b.company_name, b.first_name || ' ' || b.last_name)"
        " FROM beneficiaries b WHERE b.beneficiary = p.beneficiary)"
        " ELSE (SELECT s.name FROM tenants n JOIN associations s ON s.association = n.association"
        " WHERE n.tenant = c.tenant) END"),
    joined<&LineRow::counterparty_kind>("c.kind"),
    joined<&LineRow::kind>("j.kind"),
    joined<&LineRow::provider>(
        "CASE WHEN c.kind = 4 THEN coalesce("
        "(SELECT q.payer_name FROM provider_payments q WHERE q.payment = p.payment),"
        " (SELECT k.provider FROM connectors k WHERE k.connector = p.connector)) END"),
};
const std::string kLinesBetween =
    select(kLineColumns) +
    " FROM entries e JOIN accounts t ON t.account = e.account"
    " JOIN journal j ON j.journal = e.entry / 1024"
    " JOIN accounts c ON c.account = e.counterparty LEFT JOIN wallets w ON w.wallet = c.wallet"
    " LEFT JOIN payments p ON p.payment = j.payment"
    " WHERE e.account = ? AND e.entry >= ? AND e.entry < ? AND t.tenant = ?";
const std::string kLines = kLinesBetween + " ORDER BY e.entry LIMIT ?";
const std::string kNewestLines = kLinesBetween + " ORDER BY e.entry DESC LIMIT ?";
static_assert(stored(PaymentType::p2p_own_multi) == 2);
static_assert(values_that(has_legs) == 1U << 2);
static_assert(stored(JournalKind::refund) == 3);
static_assert(stored(AccountKind::wallet) == 0);
static_assert(stored(AccountKind::clearing) == 4);

Timestamp journal_time(Connection& db, std::int64_t journal) {
  return first_time(db, "SELECT at FROM journal WHERE journal = ?", journal).value();
}

/// The first journal row at or after `at`, or one beyond the last. A binary search needs no index,
/// because times never decrease along the journal and its numbers have no gaps.
std::int64_t first_journal_at(Connection& db, Timestamp at) {
  std::int64_t high = first_integer(db, kLastJournal).value_or(0) + 1;
  std::int64_t low = 1;
  while (low < high) {
    const std::int64_t middle = low + (high - low) / 2;
    if (journal_time(db, middle) < at) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

/// The other side of the amount. The name of an operator account is its purpose.
std::string counterparty_name(const LineRow& row) {
  if (row.counterparty_kind == AccountKind::fee) return "Fees";
  if (row.kind == JournalKind::refund) return "Refund";
  if (row.line.counterparty) return *row.line.counterparty;
  switch (row.counterparty_kind) {
    case AccountKind::liquidity:
      return "Market";
    case AccountKind::clearing:
      return row.provider;
    case AccountKind::fee:
    case AccountKind::issuance:
    case AccountKind::wallet:
      break;
  }
  return "Funding";
}

std::vector<StatementLine> lines_in(Connection& db, const std::string& sql, const Tenant& tenant,
                                    AccountKey account, const EntryRange& range, int limit) {
  std::vector<StatementLine> out;
  out.reserve(static_cast<std::size_t>(limit));
  Query query(db, sql.c_str(), account, range.from, range.to, tenant.key, limit);
  while (query.step()) {
    auto row = read_row<LineRow>(query, kLineColumns);
    // The link is unique and never changes; with the line number, it identifies the row
    // permanently.
    row.line.row_id = to_hex(std::string_view(row.link).substr(0, 12)) + "-" +
                      std::to_string(row.line.entry % kLinesPerSet);
    row.line.counterparty = counterparty_name(row);
    out.push_back(std::move(row.line));
  }
  return out;
}

}  // namespace

EntryRange entries_between(Connection& db, Timestamp start, Timestamp end) {
  return {first_journal_at(db, start) * kLinesPerSet, first_journal_at(db, end) * kLinesPerSet};
}

Amount balance_before(Connection& db, AccountKey account, std::int64_t entry) {
  Query query(db, kBalanceBefore, account, entry);
  return query.step() ? query.amount(0) : Amount();
}

std::vector<StatementLine> statement_lines(Connection& db, const Tenant& tenant, AccountKey account,
                                           const EntryRange& range, int limit) {
  return lines_in(db, kLines, tenant, account, range, limit);
}

std::vector<StatementLine> newest_statement_lines(Connection& db, const Tenant& tenant,
                                                  AccountKey account, const EntryRange& range,
                                                  int limit) {
  return lines_in(db, kNewestLines, tenant, account, range, limit);
}

}  // namespace coffer::store
