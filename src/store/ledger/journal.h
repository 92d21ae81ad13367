// The ledger's rows: accounts, holds, entry sets and the keyed hash chain over them.
//
// Chain: link(n) = HMAC-SHA256(journal key, link(n-1) || canonical text of set n), link(0) = 32
// zero bytes. The canonical text is, in decimal ASCII, `journal|tenant|kind|payment or -|at` and a
// line feed, then for each entry in order `line|account|amount|balance_after|counterparty|leg` and
// a line feed. For a payment, the text of store/payments/payment_seal.h follows: the rows that
// never change after its acceptance. The end of the chain is sealed with each commit.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "domain/identity/tenant.h"
#include "domain/ledger/ledger.h"
#include "domain/payments/payment.h"
#include "store/commits/write_tx.h"
#include "store/rows/sealed_totals.h"

namespace coffer::store {

struct SettlementView;  // store/payments/payments.h

enum class JournalKind { payment, funding, liquidity, refund };

/// The key of an entry is the key of its entry set times this number, plus its line.
constexpr std::int64_t kLinesPerSet = 1024;

/// Row keys of the operator's tenants, fixed by schema.sql.
std::int64_t operator_tenant(Environment environment);

struct Movement {
  Posting posting;
  int leg = 0;  // leg of the payment, whose references and description appear on statements
};

/// A wallet's account in one asset, as in GET /v1/wallets.
struct WalletBalance {
  Asset asset;
  Amount balance;
  Amount held;
};

/// Appends one entry set, updates the balances and returns the link (32 bytes). The accounts of
/// each posting must hold the same asset. An overdraft is a bug and throws.
std::string post(WriteTx& tx, std::int64_t tenant, JournalKind kind,
                 std::span<const Movement> movements);
/// The same for a payment.
std::string post(WriteTx& tx, const SettlementView& payment, JournalKind kind,
                 std::span<const Movement> movements);

/// A credit from issuance for which the operator gave a transaction ID.
struct Funding {
  std::int64_t wallet = 0;  // row key, as is `asset`
  std::int64_t asset = 0;
  Amount amount;
  std::string transaction_id;
  std::optional<std::string> description;  // shown on the wallet's statement
  bool operator==(const Funding&) const = default;
};
std::optional<Funding> find_funding(Connection& db, std::string_view transaction_id);
/// Stores the funding of the entry set that post() appended last. A transaction ID can be used
/// once.
void insert_funding(WriteTx& tx, const Funding& funding);

// The hold of a payment with one leg has no row: its amount including the fee is held on the
// trustline of its source wallet until the payment ends, or until an off-ramp is debited. The holds
// of a multi-transfer are rows, because their amounts depend on the order of its legs. The view
// `payment_holds` contains both.

/// Reserves funds for a payment that was just stored. The caller has checked `available`.
void place_holds(WriteTx& tx, std::int64_t payment, PaymentType type, std::span<const Hold> holds);
/// Adds to what is held of an account; a negative amount ends a hold. For the reversal of an
/// on-ramp.
void add_held(WriteTx& tx, const Hold& hold);
/// Returns everything that a payment in progress holds to `available`, exactly once. Call it before
/// the change of status that ends the hold, and before post() if `state` is posted.
void close_holds(WriteTx& tx, const SettlementView& payment, HoldState state);

std::optional<AccountKey> find_trustline(Connection& db, std::int64_t wallet, std::int64_t asset);
AccountKey open_trustline(WriteTx& tx, const Tenant& tenant, std::int64_t wallet,
                          std::int64_t asset);
/// Creates the account on first use. `connector` is required for clearing accounts and empty for
/// others.
AccountKey operator_account(WriteTx& tx, Environment environment, AccountKind kind,
                            std::int64_t asset,
                            std::optional<std::int64_t> connector = std::nullopt);
/// The existing operator accounts of one kind, for all connectors.
std::vector<AccountKey> operator_accounts(Connection& db, Environment environment, AccountKind kind,
                                          std::int64_t asset);
/// The balance of an operator account; zero if the account does not exist yet.
Amount operator_balance(Connection& db, Environment environment, AccountKind kind,
                        std::int64_t asset, std::optional<std::int64_t> connector = std::nullopt);
/// In the order in which the trustlines were opened.
std::vector<WalletBalance> balances_of(Connection& db, std::int64_t wallet);

/// Verifies at most `limit` rows of the journal's chain from this position, and advances it. On a
/// connection without keys (store/file/chain_keys.h), links are not compared.
ChainPiece follow_journal(Connection& db, ChainPosition& from, std::int64_t limit);
/// Verifies the whole chain; returns a sentence about the first invalid row, or an empty text.
/// Calls `progress` with (done, total) at intervals.
std::string verify_chain(Connection& db,
                         const std::function<void(std::int64_t, std::int64_t)>& progress);

}  // namespace coffer::store

template <>
struct coffer::Terms<coffer::store::JournalKind> {
  static constexpr auto rows =
      std::to_array<Term>({{"payment"}, {"funding"}, {"liquidity"}, {"refund"}});
};
