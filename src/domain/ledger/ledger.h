// The double-entry ledger: what a balance is, and what may be posted.
//
// An *account* holds one asset for one owner. A *posting* {debit, credit, amount} moves value
// between two accounts of the same asset; it has one amount, so it cannot be unbalanced. An *entry
// set* is the list of postings of one business act, applied whole or not at all, in order. Each
// posting becomes two *entries* (-amount on the debited account, +amount on the credited one), each
// with the account's balance after it. Here "debit" is what leaves an account and "credit" what
// arrives, as a customer reads a statement.
//
// Value that is promised but not yet moved is *held*: `available = balance - held`. A hold is
// placed when a payment is accepted and is later closed exactly once: *posted* (the value moved) or
// *voided* (it did not). A wallet account never has `available` or `balance` below zero. Value
// enters and leaves the ledger through an *issuance* account per asset, whose balance is minus what
// is in circulation, so that per asset and environment everything always sums to zero.
//
// What a payment provider pays out or collects passes through the *clearing* account of its
// connector: a cash-out credits it, a collection debits it, so its balance is what coffer owes the
// provider. A cash-out that comes back is a set of its own, the first one mirrored. Fees go to a
// *fee* account.
//
// A conversion (swap) is two postings through the *liquidity* account of each asset: the sold asset
// into its liquidity account, the bought one out of its own. What rounding cuts off stays there.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"
#include "domain/ledger/money.h"

namespace coffer {

enum class AccountKind { wallet = 0, issuance = 1, liquidity = 2, fee = 3, clearing = 4 };
/// Only issuance, and clearing where a provider owes coffer more than it has been sent.
constexpr bool may_be_negative(AccountKind kind) {
  return kind == AccountKind::issuance || kind == AccountKind::clearing;
}

/// Row number of an account in the store.
using AccountKey = std::int64_t;

/// One account as the ledger rules see it.
struct AccountState {
  AccountKey key = 0;
  std::int64_t asset = 0;  // key of its asset
  AccountKind kind = AccountKind::wallet;
  Amount balance;
  Amount held;

  Amount available() const { return balance - held; }
};

struct Posting {
  AccountKey debit = 0;
  AccountKey credit = 0;
  Amount amount;
};

enum class HoldState { open = 0, posted = 1, voided = 2 };

/// Value reserved on one account for one payment.
struct Hold {
  AccountKey account = 0;
  Amount amount;
};

/// One planned movement of an entry set and what must be held for it beforehand.
/// `movements` are applied in order, so a later one may spend what an earlier one brings.
/// Returns per debited account the deepest dip below its present balance: holding exactly that on
/// acceptance makes every prefix of the movements coverable at settlement, whatever happens
/// between. `amount-out-of-range` when the sums overflow.
Result<std::vector<Hold>> holds_for(std::span<const Posting> movements);

/// Index of the first movement that overdraws its debited account when `movements` are applied in
/// order to accounts with these available amounts; -1 when all are covered. Accounts not in
/// `accounts` are not limited.
std::ptrdiff_t first_uncovered(std::span<const Posting> movements,
                               std::span<const AccountState> accounts);

}  // namespace coffer
