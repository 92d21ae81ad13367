#include "store/ledger/statements.h"

#include "base/digest.h"
#include "domain/payments/payment.h"

namespace coffer::store {
namespace {

constexpr std::int64_t kLinesPerSet = 1024;

constexpr const char* kLastJournal = "SELECT coalesce(max(journal), 0) FROM journal";
constexpr const char* kJournalTime = "SELECT at FROM journal WHERE journal = ?";
constexpr const char* kBalanceBefore =
    "SELECT balance_after FROM entries WHERE account = ? AND entry < ? ORDER BY entry DESC LIMIT 1";
// Rarely used columns are read by subqueries only for the lines that have them, because a statement
// may have a million lines. Another tenant's wallet name stays private: the payer sees the
// beneficiary's name, and the receiver sees who paid.
#define STATEMENT_LINES                                                                            \
  "SELECT e.entry, j.link, j.at, e.amount, e.balance_after,"                                       \
  " CASE WHEN p.tenant = t.tenant THEN p.id END,"                                                  \
  " CASE WHEN p.payment IS NULL"                                                                   \
  "      THEN (SELECT f.description FROM fundings f WHERE f.journal = j.journal)"                  \
  "      WHEN p.type = 2 THEN (SELECT l.description FROM payment_legs l"                           \
  "   WHERE l.payment = j.payment AND l.leg = e.leg) ELSE p.description END,"                      \
  " CASE WHEN p.type = 2 THEN (SELECT CASE WHEN e.amount < 0 THEN l.from_ref ELSE l.to_ref END"    \
  "   FROM payment_legs l WHERE l.payment = j.payment AND l.leg = e.leg)"                          \
  "  WHEN (e.amount < 0) <> (j.kind = 3) THEN p.from_ref ELSE p.to_ref END,"                       \
  " CASE WHEN c.tenant = t.tenant THEN w.name"                                                     \
  "      WHEN c.kind <> 0 OR e.amount < 0"                                                         \
  "      THEN (SELECT coalesce(b.company_name, b.first_name || ' ' || b.last_name)"                \
  "            FROM beneficiaries b WHERE b.beneficiary = p.beneficiary)"                          \
  "      ELSE (SELECT s.name FROM tenants n JOIN associations s ON s.association = n.association"  \
  "            WHERE n.tenant = c.tenant) END,"                                                    \
  " c.kind, j.kind,"                                                                               \
  " CASE WHEN c.kind = 4"                                                                          \
  "      THEN coalesce((SELECT q.payer_name FROM provider_payments q WHERE q.payment = "           \
  "p.payment),"                                                                                    \
  "                    (SELECT k.provider FROM connectors k WHERE k.connector = p.connector)) END" \
  " FROM entries e JOIN accounts t ON t.account = e.account"                                       \
  " JOIN journal j ON j.journal = e.entry / 1024"                                                  \
  " JOIN accounts c ON c.account = e.counterparty LEFT JOIN wallets w ON w.wallet = c.wallet"      \
  " LEFT JOIN payments p ON p.payment = j.payment"                                                 \
  " WHERE e.account = ? AND e.entry >= ? AND e.entry < ? AND t.tenant = ?"
constexpr const char* kLines = STATEMENT_LINES " ORDER BY e.entry LIMIT ?";
constexpr const char* kNewestLines = STATEMENT_LINES " ORDER BY e.entry DESC LIMIT ?";
#undef STATEMENT_LINES
static_assert(stored(PaymentType::p2p_own_multi) == 2);
static_assert(stored(JournalKind::refund) == 3);
static_assert(stored(AccountKind::wallet) == 0);
static_assert(stored(AccountKind::clearing) == 4);

Timestamp journal_time(Connection& db, std::int64_t journal) {
  Query query(db, kJournalTime, journal);
  COFFER_CHECK(query.step());
  return query.time(0);
}

/// The first journal row at or after `at`, or one beyond the last. Bisection finds it without an
/// index, because times never decrease along the journal and its numbers have no gaps.
std::int64_t first_journal_at(Connection& db, Timestamp at) {
  std::int64_t high = 1;
  {
    Query query(db, kLastJournal);
    if (query.step()) high = query.integer(0) + 1;
  }
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

/// Where the amount went to or came from. An operator account is named by its purpose.
std::string counterparty_name(const Query& query) {
  const auto kind = query.enumeration<AccountKind>(9);
  if (kind == AccountKind::fee) return "Fees";
  if (query.enumeration<JournalKind>(10) == JournalKind::refund) return "Refund";
  if (!query.is_null(8)) return query.text(8);
  switch (kind) {
    case AccountKind::liquidity:
      return "Market";
    case AccountKind::clearing:
      return query.text(11);
    case AccountKind::fee:
    case AccountKind::issuance:
    case AccountKind::wallet:
      break;
  }
  return "Funding";
}

std::vector<StatementLine> lines_in(Connection& db, const char* sql, const Tenant& tenant,
                                    AccountKey account, const EntryRange& range, int limit) {
  std::vector<StatementLine> out;
  out.reserve(static_cast<std::size_t>(limit));
  Query query(db, sql, account, range.from, range.to, tenant.key, limit);
  while (query.step()) {
    StatementLine line;
    line.entry = query.integer(0);
    // The link is unique and never changes; with the line number, it identifies the row
    // permanently.
    line.row_id = to_hex(std::string_view(query.blob(1)).substr(0, 12)) + "-" +
                  std::to_string(line.entry % kLinesPerSet);
    line.at = query.time(2);
    line.amount = query.amount(3);
    line.running_balance = query.amount(4);
    if (!query.is_null(5)) line.payment = query.id<PaymentId>(5);
    line.description = query.optional_text(6);
    line.reference = query.optional_text(7);
    line.counterparty = counterparty_name(query);
    out.push_back(std::move(line));
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
