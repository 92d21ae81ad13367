// The ledger's rows: accounts, holds, entry sets and the hash chain over them.
//
// Chain: link(n) = SHA-256(link(n-1) || canonical text of set n), link(0) = 32 zero bytes. The
// canonical text is, in decimal ASCII, `journal|tenant|kind|payment or -|at` and a line feed, then
// for each entry in order `line|account|amount|balance_after|counterparty|leg` and a line feed.
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
#include "store/write_tx.h"

namespace coffer::store {

enum class JournalKind { payment, funding, liquidity, refund };

/// The chain itself, also of other logs: the link before the first row, and the one after
/// `previous` over the canonical text of a row. 32 raw bytes.
std::string genesis_link();
std::string next_link(std::string_view previous, std::string_view text);

/// Row keys of the operator's own tenants, fixed by schema.sql.
std::int64_t operator_tenant(Environment environment);

struct Movement {
  Posting posting;
  int leg = 0;  // of the payment, for references and description on statements
};

/// A wallet's account in one asset, as GET /v1/wallets shows it.
struct WalletBalance {
  Asset asset;
  Amount balance;
  Amount held;
};

/// Appends one entry set, moves the balances and returns its link (32 bytes). Every posting's
/// accounts must hold the same asset; an overdraft is a bug and throws.
std::string post(WriteTx& tx, std::int64_t tenant, JournalKind kind,
                 std::optional<std::int64_t> payment, std::span<const Movement> movements);

/// A credit from issuance that an operator named with a transaction id.
struct Funding {
  std::int64_t wallet = 0;  // keys
  std::int64_t asset = 0;
  Amount amount;
  std::string transaction_id;
  std::optional<std::string> description;  // on the wallet's statement
  bool operator==(const Funding&) const = default;
};
std::optional<Funding> find_funding(Connection& db, std::string_view transaction_id);
/// Names the entry set that post() appended last. Once per transaction id.
void insert_funding(WriteTx& tx, const Funding& funding);

/// Reserves value for a payment; the caller has checked `available`.
void place_hold(WriteTx& tx, std::int64_t payment, const Hold& hold);
/// Closes every hold of a payment, exactly once, and gives its value back to `available`. Call
/// before post() when `state` is posted.
void close_holds(WriteTx& tx, std::int64_t payment, HoldState state);

std::optional<AccountKey> find_trustline(Connection& db, std::int64_t wallet, std::int64_t asset);
AccountKey open_trustline(WriteTx& tx, const Tenant& tenant, std::int64_t wallet,
                          std::int64_t asset);
/// Created on first use. `connector` says whose, for and only for clearing accounts.
AccountKey operator_account(WriteTx& tx, Environment environment, AccountKind kind,
                            std::int64_t asset,
                            std::optional<std::int64_t> connector = std::nullopt);
/// Those accounts of one kind that exist, of all connectors.
std::vector<AccountKey> operator_accounts(Connection& db, Environment environment, AccountKind kind,
                                          std::int64_t asset);
/// The balance of an operator's account; zero when there is none yet.
Amount operator_balance(Connection& db, Environment environment, AccountKind kind,
                        std::int64_t asset, std::optional<std::int64_t> connector = std::nullopt);
/// In the order the trustlines were opened.
std::vector<WalletBalance> balances_of(Connection& db, std::int64_t wallet);

/// Up to where a chain was followed: its last row, and that row's link.
struct ChainPosition {
  std::int64_t row = 0;
  std::string link = genesis_link();
};
/// What following a piece of a chain came to.
struct ChainPiece {
  std::int64_t rows = 0;
  bool end = false;   // of the chain
  std::string fault;  // a sentence naming the first row that does not fit, or empty
};
/// Follows the chain for at most `limit` rows, and moves the position.
ChainPiece follow_journal(Connection& db, ChainPosition& from, std::int64_t limit);
/// The whole chain; the sentence, or empty. `progress` is called now and then with (done, total).
std::string verify_chain(Connection& db,
                         const std::function<void(std::int64_t, std::int64_t)>& progress);

}  // namespace coffer::store
