#include "store/ledger/journal.h"

#include <algorithm>

#include "base/check.h"
#include "base/numbers.h"
#include "store/file/chain_keys.h"
#include "store/ledger/known_rows.h"
#include "store/payments/payment_seal.h"
#include "store/payments/payments.h"
#include "store/rows/columns.h"
#include "store/rows/guarded_rows.h"
#include "store/rows/key_walk.h"

namespace coffer::store {
namespace {

constexpr const char* kInsertHold = "INSERT INTO holds (payment, account, amount) VALUES (?, ?, ?)";
constexpr const char* kCloseHold = "UPDATE holds SET state = ? WHERE payment = ? AND account = ?";
constexpr const char* kInsertTrustline =
    "INSERT INTO accounts (tenant, kind, wallet, asset, created_at) VALUES (?, ?, ?, ?, ?)";
constexpr const char* kFindOperatorAccount =
    "SELECT account, balance FROM accounts WHERE tenant = ? AND kind = ? AND asset = ?"
    " AND ifnull(connector, 0) = ifnull(?, 0) AND wallet IS NULL";
constexpr const char* kInsertOperatorAccount =
    "INSERT INTO accounts (tenant, kind, wallet, asset, connector, created_at)"
    " VALUES (?, ?, NULL, ?, ?, ?)";
constexpr const char* kOperatorAccounts =
    "SELECT account FROM accounts WHERE tenant = ? AND kind = ? AND asset = ? AND wallet IS NULL";
// A sandbox funding may have no transaction ID.
constexpr const char* kInsertFunding =
    "INSERT INTO fundings (journal, transaction_id, description)"
    " SELECT max(journal), nullif(?, ''), ? FROM journal";
// A funding is one posting, whose second line is the credit.
constexpr Column<Funding> kFundingColumns[] = {
    joined<&Funding::wallet>("a.wallet"),
    joined<&Funding::asset>("a.asset"),
    joined<&Funding::amount>("e.amount"),
    joined<&Funding::transaction_id>("f.transaction_id"),
    joined<&Funding::description>("f.description"),
};
const std::string kFindFunding =
    select(kFundingColumns) +
    " FROM fundings f JOIN entries e ON e.entry = f.journal * 1024 + 1"
    " JOIN accounts a ON a.account = e.account WHERE f.transaction_id = ?";
constexpr const char* kFundingRow = "SELECT journal FROM fundings WHERE transaction_id = ?";
struct AccountBalance {
  std::int64_t account = 0;
  WalletBalance shown;
};
constexpr Column<AccountBalance> kBalanceColumns[] = {
    joined<&AccountBalance::account>("a.account"),
    joined<&AccountBalance::shown, &WalletBalance::asset, &Asset::key>("s.asset"),
    joined<&AccountBalance::shown, &WalletBalance::asset, &Asset::code>("s.code"),
    joined<&AccountBalance::shown, &WalletBalance::asset, &Asset::issuer>("s.issuer"),
    joined<&AccountBalance::shown, &WalletBalance::asset, &Asset::name>("s.name"),
    joined<&AccountBalance::shown, &WalletBalance::asset, &Asset::decimals>("s.decimals"),
    joined<&AccountBalance::shown, &WalletBalance::balance>("a.balance"),
    joined<&AccountBalance::shown, &WalletBalance::held>("a.held"),
};
const std::string kBalancesOf =
    select(kBalanceColumns) +
    " FROM accounts a JOIN assets s ON s.asset = a.asset WHERE a.wallet = ?";
/// An entry set in the form that verification reads.
struct StoredSet {
  std::int64_t journal = 0;
  std::int64_t tenant = 0;
  std::int64_t kind = 0;
  std::optional<std::int64_t> payment;
  Timestamp at;
  std::string link;
};
constexpr Column<StoredSet> kSetColumns[] = {
    joined<&StoredSet::journal>("journal"), joined<&StoredSet::tenant>("tenant"),
    joined<&StoredSet::kind>("kind"),       joined<&StoredSet::payment>("payment"),
    joined<&StoredSet::at>("at"),           joined_blob<&StoredSet::link>("link"),
};
const std::string kJournalAfter =
    select(kSetColumns) + " FROM journal WHERE journal > ? ORDER BY journal LIMIT ?";
constexpr const char* kEntriesFrom =
    "SELECT entry, account, amount, balance_after, counterparty, leg FROM entries WHERE entry >= ?"
    " ORDER BY entry";

void append_field(std::string& text, std::int64_t value) {
  append_number(text, value);
  text += '|';
}

std::string set_header(std::int64_t journal, std::int64_t tenant, std::int64_t kind,
                       std::optional<std::int64_t> payment, Timestamp at) {
  std::string out;
  for (const std::int64_t value : {journal, tenant, kind}) append_field(out, value);
  payment ? append_field(out, *payment) : void(out += "-|");
  append_number(out, at.ms);
  return out += '\n';
}

struct EntryRow {
  std::int64_t line;
  AccountKey account;
  Amount amount;
  Amount balance_after;
  AccountKey counterparty;
  std::int64_t leg;

  void append_to(std::string& text) const {
    for (const std::int64_t value :
         {line, account, amount.units(), balance_after.units(), counterparty}) {
      append_field(text, value);
    }
    append_number(text, leg);
    text += '\n';
  }
};

/// Applies one side of a posting to its account and writes its entry.
void enter(WriteTx& tx, std::int64_t journal, EntryRow row, std::string& text) {
  const AccountState before = tx.balances().get(row.account);
  row.balance_after = before.balance + row.amount;
  tx.balances().set(row.account, row.balance_after, before.held);
  tx.new_rows().entries.add(journal * kLinesPerSet + row.line, row.account, row.amount,
                            row.balance_after, row.counterparty, row.leg);
  row.append_to(text);
}

}  // namespace

std::int64_t operator_tenant(Environment environment) {
  return environment == Environment::sandbox ? 1 : 2;
}

namespace {

std::string append_set(WriteTx& tx, std::int64_t tenant, JournalKind kind,
                       std::optional<std::int64_t> payment, std::string_view payment_text,
                       std::span<const Movement> movements) {
  COFFER_CHECK(!movements.empty() &&
               2 * movements.size() <= static_cast<std::size_t>(kLinesPerSet));
  ChainHead& head = ledger_head(tx);
  const std::int64_t journal = head.journal + 1;
  std::string text =
      set_header(journal, tenant, static_cast<std::int64_t>(kind), payment, tx.now());
  std::int64_t line = 0;
  // In the canonical text, the entries follow the journal fields.
  for (const auto& [posting, leg] : movements) {
    COFFER_CHECK(posting.amount.is_positive());
    COFFER_CHECK(tx.balances().get(posting.debit).asset == tx.balances().get(posting.credit).asset);
    enter(tx, journal, {line++, posting.debit, -posting.amount, {}, posting.credit, leg}, text);
    enter(tx, journal, {line++, posting.credit, posting.amount, {}, posting.debit, leg}, text);
  }
  text += payment_text;
  const ChainKeys* keys = keys_of(tx.db());
  COFFER_CHECK(keys != nullptr);
  head.journal = journal;
  head.link = as_text(keys->journal.of(head.link, text));
  tx.new_rows().journal.add(journal, tenant, kind, payment, tx.now(), Blob{head.link});
  tx.quotas().add_bytes(
      tenant, row_bytes::kEntrySet + row_bytes::kPosting * static_cast<int>(movements.size()));
  return head.link;
}

}  // namespace

std::string post(WriteTx& tx, std::int64_t tenant, JournalKind kind,
                 std::span<const Movement> movements) {
  return append_set(tx, tenant, kind, std::nullopt, {}, movements);
}

std::string post(WriteTx& tx, const SettlementView& payment, JournalKind kind,
                 std::span<const Movement> movements) {
  return append_set(tx, payment.tenant, kind, payment.key, payment.sealed.text, movements);
}

std::optional<Funding> find_funding(Connection& db, std::string_view transaction_id) {
  require_intact(db, "fundings", first_integer(db, kFundingRow, transaction_id),
                 {{"transaction_id", transaction_id}});
  return first_row<Funding>(db, kFindFunding, kFundingColumns, transaction_id);
}

void insert_funding(WriteTx& tx, const Funding& funding) {
  tx.db().run(kInsertFunding, funding.transaction_id, funding.description);
}

std::optional<AccountKey> find_trustline(Connection& db, std::int64_t wallet, std::int64_t asset) {
  const auto found = first_integer(
      db, "SELECT account FROM accounts WHERE wallet = ? AND asset = ?", wallet, asset);
  require_intact(db, "accounts", found, {{"wallet", wallet}, {"asset", asset}});
  return found;
}

AccountKey open_trustline(WriteTx& tx, const Tenant& tenant, std::int64_t wallet,
                          std::int64_t asset) {
  tx.db().run(kInsertTrustline, tenant.key, AccountKind::wallet, wallet, asset, tx.now());
  return tx.db().last_insert_key();
}

AccountKey operator_account(WriteTx& tx, Environment environment, AccountKind kind,
                            std::int64_t asset, std::optional<std::int64_t> connector) {
  COFFER_CHECK(kind != AccountKind::wallet);
  const std::int64_t tenant = operator_tenant(environment);
  {
    Query query(tx.db(), kFindOperatorAccount, tenant, kind, asset, connector);
    if (query.step()) {
      require_intact(
          tx.db(), "accounts", query.integer(0),
          {{"tenant", tenant}, {"kind", kind}, {"asset", asset}, {"connector", connector}});
      return query.integer(0);
    }
  }
  tx.db().run(kInsertOperatorAccount, tenant, kind, asset, connector, tx.now());
  return tx.db().last_insert_key();
}

std::vector<AccountKey> operator_accounts(Connection& db, Environment environment, AccountKind kind,
                                          std::int64_t asset) {
  std::vector<AccountKey> out;
  Query query(db, kOperatorAccounts, operator_tenant(environment), kind, asset);
  while (query.step()) out.push_back(query.integer(0));
  return out;
}

Amount operator_balance(Connection& db, Environment environment, AccountKind kind,
                        std::int64_t asset, std::optional<std::int64_t> connector) {
  Query query(db, kFindOperatorAccount, operator_tenant(environment), kind, asset, connector);
  return query.step() ? query.amount(1) : Amount();
}

std::vector<WalletBalance> balances_of(Connection& db, std::int64_t wallet) {
  auto rows = all_rows<AccountBalance>(Query(db, kBalancesOf.c_str(), wallet), kBalanceColumns);
  // Not in the statement: sorting a few rows in SQLite costs almost half as much as reading them.
  std::sort(rows.begin(), rows.end(),
            [](const auto& a, const auto& b) { return a.account < b.account; });
  std::vector<WalletBalance> out;
  out.reserve(rows.size());
  for (AccountBalance& row : rows) {
    require_intact(db, "accounts", row.account, {{"wallet", wallet}});
    out.push_back(std::move(row.shown));
  }
  return out;
}

ChainPiece follow_journal(Connection& db, ChainPosition& from, std::int64_t limit) {
  ChainPiece out;
  const ChainKeys* keys = keys_of(db);
  Query sets(db, kJournalAfter.c_str(), from.row == 0 ? INT64_MIN : from.row, limit);
  Query entries(db, kEntriesFrom, from.row == 0 ? INT64_MIN : (from.row + 1) * kLinesPerSet);
  bool more = entries.step();
  while (sets.step()) {
    const auto [journal, tenant, kind, payment, at, stored] =
        read_row<StoredSet>(sets, kSetColumns);
    std::string text = set_header(journal, tenant, kind, payment, at);
    for (; more && entries.integer(0) / kLinesPerSet == journal; more = entries.step()) {
      const EntryRow row{entries.integer(0) % kLinesPerSet,
                         entries.integer(1),
                         entries.amount(2),
                         entries.amount(3),
                         entries.integer(4),
                         entries.integer(5)};
      row.append_to(text);
    }
    if (payment) text += payment_text(db, *payment);
    from = {journal, keys ? std::string(as_text(keys->journal.of(from.link, text))) : stored};
    ++out.rows;
    if (from.link == stored) continue;
    out.fault = "journal row " + std::to_string(journal) + " does not continue the hash chain";
    return out;
  }
  out.end = out.rows < limit;
  if (out.end && more) {
    out.fault = "entry " + std::to_string(entries.integer(0)) + " belongs to no journal row";
  }
  if (out.end && out.fault.empty()) out.fault = journal_end_fault(db, from.row, from.link);
  return out;
}

std::string verify_chain(Connection& db,
                         const std::function<void(std::int64_t, std::int64_t)>& progress) {
  constexpr std::int64_t kPiece = 10'000;
  std::int64_t total = 0;
  {
    Query count(db, "SELECT count(*) FROM journal");
    if (count.step()) total = count.integer(0);
  }
  ChainPosition at;
  for (std::int64_t done = 0;;) {
    const ChainPiece piece = follow_journal(db, at, kPiece);
    if (!piece.fault.empty()) return piece.fault;
    done += piece.rows;
    progress(done, total);
    if (piece.end) return {};
  }
}

void add_held(WriteTx& tx, const Hold& hold) {
  const AccountState before = tx.balances().get(hold.account);
  tx.balances().set(hold.account, before.balance, before.held + hold.amount);
}

namespace {

/// The hold of a payment with one leg.
Hold implied_hold(WriteTx& tx, const SettlementView& payment) {
  COFFER_CHECK(!is_settled(payment.status));
  const PaymentKeys::Leg& leg = payment.keys.legs.front();
  COFFER_CHECK(leg.source_wallet && leg.asset);
  const auto account = tx.known().trustline(*leg.source_wallet, *leg.asset);
  COFFER_CHECK(account.has_value());
  Hold hold{*account, payment.amounts.front()};
  if (payment.type == PaymentType::offramp) {
    Query query(tx.db(), "SELECT fee FROM provider_payments WHERE payment = ? AND state <> ?",
                payment.key, ProviderState::accepted);
    COFFER_CHECK(query.step());  // otherwise it was debited
    hold.amount = hold.amount + query.amount(0);
  }
  return hold;
}

void place_hold(WriteTx& tx, std::int64_t payment, const Hold& hold) {
  add_held(tx, hold);
  tx.db().run(kInsertHold, payment, hold.account, hold.amount);
}

void close_rows(WriteTx& tx, std::int64_t payment, HoldState state) {
  COFFER_CHECK(state != HoldState::open);
  std::vector<Hold> open;
  {
    Query query(tx.db(), "SELECT account, amount FROM holds WHERE payment = ? AND state = ?",
                payment, HoldState::open);
    while (query.step()) open.push_back({query.integer(0), query.amount(1)});
  }
  COFFER_CHECK(!open.empty());
  for (const Hold& hold : open) {
    add_held(tx, {hold.account, -hold.amount});
    tx.db().run(kCloseHold, state, payment, hold.account);
  }
}

}  // namespace

void place_holds(WriteTx& tx, std::int64_t payment, PaymentType type, std::span<const Hold> holds) {
  COFFER_CHECK(has_legs(type) || holds.size() <= 1);
  for (const Hold& hold : holds) {
    has_legs(type) ? place_hold(tx, payment, hold) : add_held(tx, hold);
  }
}

void close_holds(WriteTx& tx, const SettlementView& payment, HoldState state) {
  COFFER_CHECK(state != HoldState::open);
  if (has_legs(payment.type)) return close_rows(tx, payment.key, state);
  const Hold hold = implied_hold(tx, payment);
  add_held(tx, {hold.account, -hold.amount});
}

}  // namespace coffer::store
