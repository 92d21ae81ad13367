#include "store/operations/books.h"

#include "domain/payments/limit.h"
#include "store/rows/columns.h"

namespace coffer::store {
namespace {

// Only values that never change, so that a period that has ended always reads the same.
constexpr Column<BookAccount> kBookAccount[] = {
    joined<&BookAccount::key>("a.account"),
    joined<&BookAccount::kind>("a.kind"),
    joined<&BookAccount::asset>("a.asset"),
    joined<&BookAccount::asset_code>("(SELECT code FROM assets s WHERE s.asset = a.asset)"),
    joined<&BookAccount::association>(
        "(SELECT s.id FROM associations s WHERE s.association = t.association)"),
    joined<&BookAccount::wallet>("(SELECT w.id FROM wallets w WHERE w.wallet = a.wallet)"),
    joined<&BookAccount::connector>(
        "(SELECT c.id FROM connectors c WHERE c.connector = a.connector)"),
    joined<&BookAccount::created_at>("a.created_at"),
};
#define BALANCE_BEFORE(entry)                                                        \
  "(SELECT e.balance_after FROM entries e WHERE e.account = a.account AND e.entry <" \
  " " entry " ORDER BY e.entry DESC LIMIT 1)"
constexpr Column<BookAccount> kBookBalances[] = {
    joined<&BookAccount::opening>(BALANCE_BEFORE("?3")),
    joined<&BookAccount::closing>(BALANCE_BEFORE("?4")),
};
#undef BALANCE_BEFORE
constexpr Column<BookEntry> kBookEntry[] = {
    joined<&BookEntry::entry>("e.entry"),
    joined<&BookEntry::at>("j.at"),
    joined<&BookEntry::kind>("j.kind"),
    joined<&BookEntry::type>("p.type"),
    joined<&BookEntry::payment>("p.id"),
    joined<&BookEntry::transaction_id>(
        "coalesce(p.transaction_id,"
        " (SELECT f.transaction_id FROM fundings f WHERE f.journal = j.journal))"),
    joined<&BookEntry::description>(
        "coalesce(p.description, (SELECT l.description FROM payment_legs l"
        " WHERE l.payment = j.payment AND l.leg = e.leg),"
        " (SELECT f.description FROM fundings f WHERE f.journal = j.journal))"),
    joined_blob<&BookEntry::link>("j.link"),
    joined<&BookEntry::amount>("e.amount"),
};
const std::string kBookAssets =
    "SELECT s.asset, s.code, s.name FROM assets s WHERE EXISTS (SELECT 1 FROM accounts a"
    " JOIN tenants t ON t.tenant = a.tenant WHERE a.asset = s.asset AND t.environment = ?1"
    " AND a.created_at < ?2) ORDER BY s.asset";
const std::string kBookAccounts =
    select(kBookAccount, kBookBalances) +
    " FROM accounts a JOIN tenants t ON t.tenant = a.tenant"
    " WHERE t.environment = ?1 AND a.created_at < ?2 ORDER BY a.account";
const std::string kBookEntries =
    select(kBookEntry, kBookAccount) +
    " FROM entries e CROSS JOIN accounts a ON a.account = e.account"
    " CROSS JOIN tenants t ON t.tenant = a.tenant CROSS JOIN journal j ON j.journal = e.entry / "
    "1024"
    " LEFT JOIN payments p ON p.payment = j.payment"
    " WHERE e.entry >= ?1 AND e.entry < ?2 AND t.environment = ?3 ORDER BY e.entry";
const std::string kOperatorAccounts =
    select(kBookAccount, kBookBalances) +
    " FROM accounts a JOIN tenants t ON t.tenant = a.tenant WHERE a.tenant = ?1 AND a.kind = ?2"
    " AND a.wallet IS NULL ORDER BY a.account";
constexpr const char* kFirstEntrySet = "SELECT at FROM journal ORDER BY journal LIMIT 1";
constexpr const char* kLastEntrySet = "SELECT at FROM journal ORDER BY journal DESC LIMIT 1";

BookAccount with_balances(const Query& query) {
  auto account = read_row<BookAccount>(query, kBookAccount);
  const auto balances = read_row<BookAccount>(query, kBookBalances, std::size(kBookAccount));
  account.opening = balances.opening;
  account.closing = balances.closing;
  return account;
}

}  // namespace

BookPeriod book_period(Connection& db, Environment environment, std::optional<Timestamp> start,
                       std::optional<Timestamp> end) {
  BookPeriod out{.environment = environment};
  out.start = start.value_or(day_start(first_time(db, kFirstEntrySet).value_or(Timestamp())));
  const auto last = first_time(db, kLastEntrySet);
  out.end = end.value_or(last ? day_start(last->plus_ms(kDayMs)) : out.start);
  out.entries = entries_between(db, out.start, out.end);
  return out;
}

void each_book_asset(Connection& db, const BookPeriod& period,
                     const std::function<void(const BookAsset&)>& take) {
  Query query(db, kBookAssets.c_str(), period.environment, period.end);
  while (query.step()) take(row_of<BookAsset, std::int64_t, std::string, std::string>(query));
}

void each_book_account(Connection& db, const BookPeriod& period,
                       const std::function<void(const BookAccount&)>& take) {
  Query query(db, kBookAccounts.c_str(), period.environment, period.end, period.entries.from,
              period.entries.to);
  while (query.step()) take(with_balances(query));
}

std::vector<BookAccount> operator_book_accounts(Connection& db, const BookPeriod& period,
                                                AccountKind kind) {
  std::vector<BookAccount> out;
  Query query(db, kOperatorAccounts.c_str(), operator_tenant(period.environment), kind,
              period.entries.from, period.entries.to);
  while (query.step()) out.push_back(with_balances(query));
  return out;
}

void each_book_entry(Connection& db, const BookPeriod& period,
                     const std::function<void(const BookEntry&)>& take) {
  Query query(db, kBookEntries.c_str(), period.entries.from, period.entries.to, period.environment);
  while (query.step()) {
    auto entry = read_row<BookEntry>(query, kBookEntry);
    entry.account = read_row<BookAccount>(query, kBookAccount, std::size(kBookEntry));
    take(entry);
  }
}

}  // namespace coffer::store
