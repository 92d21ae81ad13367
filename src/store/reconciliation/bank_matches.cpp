#include "store/reconciliation/bank_matches.h"

#include <algorithm>
#include <map>

#include "domain/ledger/ledger.h"
#include "domain/payments/payment.h"
#include "domain/payments/refund.h"
#include "store/ledger/journal.h"
#include "store/ledger/statements.h"
#include "store/lists/payment_walk.h"
#include "store/rows/columns.h"
#include "store/rows/guarded_rows.h"

namespace coffer::store {
namespace {

constexpr Column<BankMatchRow> kMatchColumns[] = {
    joined<&BankMatchRow::key>("m.bank_match"),
    joined<&BankMatchRow::payment_id>("p.id"),
    column<&BankMatchRow::line>("m.bank_line"),
    column<&BankMatchRow::choice, &MatchChoice::kind>("m.kind"),
    column<&BankMatchRow::choice, &MatchChoice::payment>("m.payment"),
    column<&BankMatchRow::choice, &MatchChoice::refund>("m.refund"),
    column<&BankMatchRow::choice, &MatchChoice::rule>("m.rule"),
    column<&BankMatchRow::undoes>("m.undoes"),
    column<&BankMatchRow::reason>("m.reason"),
    column<&BankMatchRow::actor>("m.actor"),
    column<&BankMatchRow::at>("m.at"),
};
#define HOLDS_NOW \
  "m.undoes IS NULL AND NOT EXISTS (SELECT 1 FROM bank_matches u WHERE u.undoes = m.bank_match)"
const std::string kMatchesOfLine = select(kMatchColumns) +
                                   " FROM bank_matches m INDEXED BY bank_matches_of_line"
                                   " JOIN payments p ON p.payment = m.payment"
                                   " WHERE m.bank_line = ? AND " HOLDS_NOW " ORDER BY m.bank_match";
const std::string kInsertMatch = ColumnList{}.add(kMatchColumns).insert_into("bank_matches");
constexpr const char* kIsMatched =
    "SELECT m.bank_match FROM bank_matches m INDEXED BY bank_matches_of_payment WHERE m.payment = "
    "? AND m.kind = ? AND m.refund IS ? "
    "AND " HOLDS_NOW;
static_assert(stored(MatchRule::sum) == 5);
constexpr const char* kLinesOfTarget =
    "SELECT m.bank_match, l.currency, l.amount, l.original_currency, l.original_amount, m.rule = 5"
    " FROM bank_matches m INDEXED BY bank_matches_of_payment"
    " JOIN bank_lines l ON l.bank_line = m.bank_line"
    " WHERE m.payment = ? AND m.kind = ? AND m.refund IS ? AND " HOLDS_NOW;
constexpr const char* kConnectorsOfEnvironment =
    "SELECT connector FROM connectors WHERE environment = ? ORDER BY 1";

constexpr const char* kInEnvironment =
    "SELECT 1 FROM payments p JOIN tenants t ON t.tenant = p.tenant WHERE p.payment = ? AND "
    "t.environment = ?";

/// A payment of a provider, as its bank sees it.
struct SeenPayment {
  std::int64_t payment = 0;
  PaymentId id;
  std::string transaction_id;
  PaymentType type = PaymentType::offramp;
  PaymentStatus status = PaymentStatus::initiated;
  Timestamp created_at;
  std::optional<Timestamp> refunded_at;
  Amount paid_out;
  Amount collected;
  Amount fee;
  std::string currency;
  std::string provider_reference;
  std::string provider_payment_id;
  std::string customer_reference;
  std::string from_ref;
  std::string to_ref;
};
constexpr Column<SeenPayment> kSeenColumns[] = {
    joined<&SeenPayment::payment>("p.payment"),
    joined<&SeenPayment::id>("p.id"),
    joined<&SeenPayment::transaction_id>("p.transaction_id"),
    joined<&SeenPayment::type>("p.type"),
    joined<&SeenPayment::status>("p.status"),
    joined<&SeenPayment::created_at>("p.created_at"),
    joined<&SeenPayment::refunded_at>("p.refund_pending_at"),
    joined<&SeenPayment::paid_out>("p.receiving_amount"),
    joined<&SeenPayment::collected>("coalesce(q.collected_amount, q.total)"),
    joined<&SeenPayment::fee>("q.fee"),
    joined<&SeenPayment::currency>("coalesce(q.arrived_currency, c.currency)"),
    joined<&SeenPayment::provider_reference>("q.provider_reference"),
    joined<&SeenPayment::provider_payment_id>("r.provider_payment_id"),
    joined<&SeenPayment::customer_reference>("o.reference"),
    joined<&SeenPayment::from_ref>("p.from_ref"),
    joined<&SeenPayment::to_ref>("p.to_ref"),
};
#define OF_PROVIDERS                                                                       \
  " JOIN provider_payments q ON q.payment = p.payment JOIN connectors c ON c.connector = " \
  "p.connector"                                                                            \
  " LEFT JOIN reference_payments r ON r.payment = p.payment"                               \
  " LEFT JOIN onramp_references o ON o.onramp_reference = r.onramp_reference"
const std::string kSeenOfConnector =
    select(kSeenColumns) +
    " FROM payments p INDEXED BY payments_of_connector" OF_PROVIDERS
    " WHERE p.connector = ?1 AND p.connector IS NOT NULL AND p.payment >= ?2 AND p.payment < ?3"
    " ORDER BY p.payment LIMIT ?4";
const std::string kSeenPayment =
    select(kSeenColumns) + " FROM payments p" OF_PROVIDERS " WHERE p.payment = ?";
constexpr const char* kToldReferences =
    "SELECT value FROM payment_instructions WHERE payment = ? AND name LIKE '%reference%'";
constexpr const char* kRefundsOfSeen =
    "SELECT refund, at, state, ifnull(return_id, ''), ifnull(returned, 0), id,"
    " ifnull(transaction_id, ''), ifnull(asked, 0) FROM refunds WHERE payment = ?";

// What moved the clearing account of a connector. Of payouts, the entry set of kind 3 without a
// refund of its own gives back what was not paid out.
static_assert(stored(AccountKind::clearing) == 4);
static_assert(stored(JournalKind::payment) == 0);
static_assert(stored(PaymentType::offramp) == 5);
constexpr const char* kBooksByDay =
    "SELECT j.at / 86400000, sum(e.amount), sum(CASE"
    "  WHEN r.id IS NOT NULL THEN -r.asked WHEN r.refund IS NOT NULL THEN ifnull(r.returned, 0)"
    "  WHEN p.type = 5 THEN iif(j.kind = 0, -1, 1) * p.receiving_amount"
    "  WHEN j.kind = 0 THEN coalesce(q.collected_amount, q.total) ELSE 0 END)"
    " FROM accounts a CROSS JOIN entries e ON e.account = a.account"
    " CROSS JOIN journal j ON j.journal = e.entry / 1024"
    " LEFT JOIN payments p ON p.payment = j.payment"
    " LEFT JOIN provider_payments q ON q.payment = p.payment"
    " LEFT JOIN refunds r ON r.journal = j.journal"
    " WHERE a.tenant IN (1, 2) AND a.kind = 4 AND a.wallet IS NULL AND a.connector = ?1"
    " AND e.entry >= ?2 AND e.entry < ?3 GROUP BY 1";
static_assert(stored(PaymentStatus::succeeded) == 2);
static_assert(stored(RefundState::booked) == 1);
constexpr const char* kProviderByDay =
    "SELECT day, sum(amount) FROM (SELECT p.completed_at / 86400000 AS day,"
    "  iif(p.type = 5, -p.receiving_amount, coalesce(q.collected_amount, q.total)) AS amount"
    " FROM payments p INDEXED BY payments_of_connector JOIN provider_payments q ON q.payment = "
    "p.payment"
    " WHERE p.connector = ?1 AND p.connector IS NOT NULL AND p.payment >= ?2 AND p.payment < ?3"
    " AND p.completed_at >= ?4 AND p.completed_at < ?5 AND (p.status = 2 OR p.refunded_amount IS "
    "NOT NULL"
    "  OR (p.type <> 5 AND q.collected_amount IS NOT NULL))"
    " UNION ALL SELECT r.booked_at / 86400000, iif(r.id IS NULL, ifnull(r.returned, 0), -r.asked)"
    " FROM payments p INDEXED BY payments_of_connector JOIN refunds r ON r.payment = p.payment"
    " WHERE p.connector = ?1 AND p.connector IS NOT NULL AND p.payment >= ?2 AND p.payment < ?3"
    " AND r.state = 1 AND r.booked_at >= ?4 AND r.booked_at < ?5"
    " AND (r.id IS NOT NULL OR r.return_id IS NOT NULL)) GROUP BY day";
static_assert(stored(LineState::matched) == 2);
static_assert(stored(LineState::replaced) == 3);
constexpr const char* kBankByDay =
    "WITH seen AS (SELECT l.booked_on / 86400000 AS day, l.state, CASE c.currency"
    "  WHEN l.currency THEN l.amount"
    "  WHEN l.original_currency THEN iif(l.amount < 0, -1, 1) * l.original_amount ELSE 0 END AS "
    "amount"
    " FROM connectors c"
    " CROSS JOIN bank_lines l INDEXED BY bank_lines_by_day ON l.environment = c.environment"
    " JOIN statement_files f ON f.statement_file = l.statement_file WHERE c.connector = ?1"
    " AND l.booked_on >= ?2 AND l.booked_on < ?3 AND l.state <> 3 AND ?1 = ifnull("
    "  (SELECT p.connector FROM bank_matches m INDEXED BY bank_matches_of_line JOIN payments p ON "
    "p.payment = m.payment"
    "   WHERE m.bank_line = l.bank_line AND " HOLDS_NOW
    " LIMIT 1), f.connector))"
    " SELECT day, sum(amount), sum(iif(state = 2, 0, amount)), sum(state <> 2) FROM seen GROUP BY "
    "day";
#undef HOLDS_NOW

std::vector<std::string> references_of(Connection& db, const SeenPayment& seen) {
  std::vector<std::string> out{seen.id.to_string(), seen.transaction_id};
  for (const std::string* one : {&seen.provider_reference, &seen.provider_payment_id}) {
    if (!one->empty()) out.push_back(*one);
  }
  if (seen.type != PaymentType::onramp) return out;
  for (Query query(db, kToldReferences, seen.payment); query.step();) out.push_back(query.text(0));
  return out;
}

/// False if the payment has none.
bool take_refunds(Connection& db, const MatchTarget& payment,
                  const std::function<void(const MatchTarget&)>& take) {
  bool any = false;
  for (Query query(db, kRefundsOfSeen, payment.payment); query.step();) {
    any = true;
    MatchTarget target = payment;
    const bool to_payer = !query.is_null(5);
    target.kind = to_payer ? MatchKind::refund : MatchKind::returned;
    target.refund = query.integer(0);
    target.at = query.time(1);
    target.amount = to_payer ? -query.amount(7) : query.amount(4);
    target.fee = Amount();
    const auto state = query.enumeration<RefundState>(2);
    target.settled = state == RefundState::booked || state == RefundState::waiting;
    if (to_payer) target.references.push_back(query.uuid(5).to_string());
    for (const int column : {3, 6}) {
      if (!query.bytes(column).empty()) target.references.push_back(query.text(column));
    }
    // Reversals of payouts that no bank carries out have no amount here.
    if (!target.amount.is_zero()) take(target);
  }
  return any;
}

void take_targets(Connection& db, const SeenPayment& seen,
                  const std::function<void(const MatchTarget&)>& take) {
  using enum PaymentStatus;
  MatchTarget target{.payment = seen.payment, .currency = seen.currency, .at = seen.created_at};
  const bool pays_out = seen.type == PaymentType::offramp;
  target.amount = pays_out ? -seen.paid_out : seen.collected;
  if (!pays_out) target.fee = seen.fee;
  target.settled = seen.status != initiated && seen.status != failed && seen.status != expired;
  target.references = references_of(db, seen);
  for (const std::string* one : {&seen.customer_reference, &seen.from_ref, &seen.to_ref}) {
    if (!one->empty()) target.standing.push_back(*one);
  }
  if (!target.amount.is_zero()) take(target);
  if (seen.status == refund_pending || seen.status == refunded || seen.status == refund_failed) {
    const bool reversed = take_refunds(db, target, take);
    // A payout that failed comes back as a whole.
    if (pays_out && !reversed && seen.refunded_at && !target.amount.is_zero()) {
      MatchTarget back = target;
      back.kind = MatchKind::returned;
      back.amount = -target.amount;
      back.at = *seen.refunded_at;
      take(back);
    }
  }
  if (!target.fee.is_positive()) return;
  target.kind = MatchKind::fee;
  target.amount = -target.fee;
  target.fee = Amount();
  take(target);
}

}  // namespace

std::vector<BankMatchRow> matches_of_line(Connection& db, std::int64_t line) {
  auto rows = all_rows<BankMatchRow>(Query(db, kMatchesOfLine.c_str(), line), kMatchColumns);
  for (const BankMatchRow& row : rows)
    require_intact(db, "bank_matches", row.key, {{"bank_line", line}});
  return rows;
}

void insert_bank_match(WriteTx& tx, const BankMatchRow& row) {
  require_intact(tx.db(), "bank_lines", row.line);
  insert_row(tx.db(), kInsertMatch, kMatchColumns, row);
}

bool is_matched(Connection& db, const MatchChoice& choice) {
  const auto match = first_integer(db, kIsMatched, choice.payment, choice.kind, choice.refund);
  require_intact(db, "bank_matches", match, {{"payment", choice.payment}});
  return match.has_value();
}

Amount matched_amount(Connection& db, const MatchTarget& target) {
  Amount out;
  for (Query query(db, kLinesOfTarget, target.payment, target.kind, target.refund); query.step();) {
    require_intact(db, "bank_matches", query.integer(0), {{"payment", target.payment}});
    if (query.integer(5) != 0) return target.amount;
    BankLine line{.amount = query.amount(2)};
    line.currency = query.text(1);
    if (!query.is_null(3)) line.original = StatedAmount{query.amount(4), query.text(3)};
    // An amount that only an operator can compare uses up the payment.
    const auto shown = shown_in(target.currency, line);
    if (!shown) return target.amount;
    const auto next = out.add(*shown);
    if (!next) return target.amount;
    out = *next;
  }
  return out;
}

TargetPosition targets_between(Connection& db, Environment environment, Timestamp from,
                               Timestamp to) {
  TargetPosition out;
  out.connectors = all_of<std::int64_t, std::int64_t>(db, kConnectorsOfEnvironment, environment);
  out.first = out.next = first_payment_since(db, from);
  out.below = first_payment_since(db, to);
  return out;
}

bool next_targets(Connection& db, TargetPosition& from, int limit,
                  const std::function<void(const MatchTarget&)>& take) {
  if (from.at == from.connectors.size()) return false;
  const auto rows = all_rows<SeenPayment>(
      Query(db, kSeenOfConnector.c_str(), from.connectors[from.at], from.next, from.below, limit),
      kSeenColumns);
  for (const SeenPayment& seen : rows) take_targets(db, seen, take);
  if (rows.size() == static_cast<std::size_t>(limit)) {
    from.next = rows.back().payment + 1;
  } else {
    ++from.at;
    from.next = from.first;
  }
  return true;
}

bool is_in_environment(Connection& db, std::int64_t payment, Environment environment) {
  return Query(db, kInEnvironment, payment, environment).step();
}

std::vector<MatchTarget> targets_of_payment(Connection& db, std::int64_t payment) {
  std::vector<MatchTarget> out;
  const auto seen = first_row<SeenPayment>(db, kSeenPayment, kSeenColumns, payment);
  if (seen) take_targets(db, *seen, [&](const MatchTarget& one) { out.push_back(one); });
  return out;
}

std::vector<ReconciledDay> reconciled_days(Connection& db, std::int64_t connector, Timestamp from,
                                           Timestamp to) {
  std::map<std::int64_t, ReconciledDay> days;
  const auto of = [&](const Query& query) -> ReconciledDay& {
    ReconciledDay& day = days[query.integer(0)];
    day.day = Timestamp{query.integer(0) * kDayMs};
    return day;
  };
  const EntryRange entries = entries_between(db, from, to);
  for (Query query(db, kBooksByDay, connector, entries.from, entries.to); query.step();) {
    of(query).clearing = query.amount(1);
    of(query).books = query.amount(2);
  }
  const std::int64_t first = first_payment_since(db, from.plus_ms(-kMatchDays * kDayMs));
  for (Query query(db, kProviderByDay, connector, first, first_payment_since(db, to), from, to);
       query.step();) {
    of(query).provider = query.amount(1);
  }
  for (Query query(db, kBankByDay, connector, from, to); query.step();) {
    of(query).bank = query.amount(1);
    of(query).open = query.amount(2);
    of(query).open_lines = query.integer(3);
  }
  std::vector<ReconciledDay> out;
  for (const auto& [key, day] : days) out.push_back(day);
  return out;
}

}  // namespace coffer::store
