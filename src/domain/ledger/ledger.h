// The double-entry ledger: the meaning of balances, and the rules of postings.
//
// An *account* holds one asset for one owner. A *posting* {debit, credit, amount} moves value
// between two accounts of the same asset. It has a single amount, so it cannot be unbalanced. An
// *entry set* is the list of postings of one business operation; it is applied in order, completely
// or not at all. Each posting becomes two *entries* (-amount on the debited account, +amount on the
// credited one), each with the account's balance after it. "Debit" is the amount that leaves an
// account and "credit" the amount that arrives, as on a customer's statement.
//
// Value reserved for a payment is *held*: `available = balance - held`. A hold is placed when a
// payment is accepted, and is closed exactly once: *posted* (the value moved) or *voided* (it did
// not). In a wallet account, `available` and `balance` are never below zero. Value enters and
// leaves the ledger through one *issuance* account per asset, whose balance is the negative of the
// value in circulation, so all balances per asset and environment sum to zero.
//
// Amounts that a payment provider pays out or collects go through the *clearing* account of its
// connector: an off-ramp credits it and an on-ramp debits it, so its balance is what coffer owes
// the provider. A returned off-ramp is a separate entry set that mirrors the first. Fees go to a
// *fee* account.
//
// A conversion (swap) is two postings through the *liquidity* accounts of both assets: the sold
// asset goes into the liquidity account of that asset, and the bought asset comes from the other
// one. Rounding differences stay there.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"
#include "domain/ledger/money.h"
#include "domain/tables/terms.h"

namespace coffer {

enum class AccountKind { wallet = 0, issuance = 1, liquidity = 2, fee = 3, clearing = 4 };
template <>
struct Terms<AccountKind> {
  static constexpr auto rows =
      std::to_array<Term>({{"wallet"}, {"issuance"}, {"liquidity"}, {"fee"}, {"clearing"}});
};
/// Only issuance accounts, and clearing accounts when a provider owes coffer.
constexpr bool may_be_negative(AccountKind kind) {
  return kind == AccountKind::issuance || kind == AccountKind::clearing;
}

/// Row key of an account.
using AccountKey = std::int64_t;

/// The part of an account that the ledger rules use.
struct AccountState {
  AccountKey key = 0;
  std::int64_t asset = 0;  // row key of its asset
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
template <>
struct Terms<HoldState> {
  static constexpr auto rows = std::to_array<Term>({{"open"}, {"posted"}, {"voided"}});
};

/// Value reserved on one account for one payment.
struct Hold {
  AccountKey account = 0;
  Amount amount;
};

/// The holds that cover the planned movements of an entry set. `movements` are applied in order, so
/// a later one may spend what an earlier one credits. Returns for each debited account its largest
/// shortfall below the present balance. With these holds, every prefix of the movements is covered
/// at settlement, regardless of changes in between. `amount-out-of-range` if the sums overflow.
Result<std::vector<Hold>> holds_for(std::span<const Posting> movements);

/// Index of the first movement that overdraws its debited account when `movements` are applied in
/// order to accounts with these available amounts; -1 if all are covered. Accounts that are not in
/// `accounts` have no limit.
std::ptrdiff_t first_uncovered(std::span<const Posting> movements,
                               std::span<const AccountState> accounts);

}  // namespace coffer
