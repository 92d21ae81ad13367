// The writer's working copy of balances during one batch.
//
// The balance of a busy account changes many times in a batch, but its row is written once, at the
// end. Rolling back a command also restores the balances here. Nothing is kept after the batch.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "domain/ledger/ledger.h"
#include "store/file/connection.h"

namespace coffer::store {

/// What verification has found about the balances of the file.
enum class BalanceState { unverified, sound, damaged };

/// Why an account contradicts the ledger; empty if it does not (store/invariants.h).
using AccountFault = std::string (*)(Connection& db, std::int64_t account, bool holds);

class BalanceBook {
 public:
  explicit BalanceBook(Connection& writer) : writer_(writer) {}

  /// For the next batch. Unless they are sound, an account is compared with its entries before it
  /// is used, and if some are damaged, also with the payments in progress.
  void expect(BalanceState state, AccountFault fault_of) {
    state_ = state;
    fault_of_ = fault_of;
  }
  /// The account's state within the running batch. Throws InternalError on an unknown key, and
  /// ForeignChange (store/rows/guarded_rows.h) if another program changed the balance.
  const AccountState& get(AccountKey account);
  /// Checks the floors of the ledger: the balance and available amount of a wallet or liquidity
  /// account are never negative. A violation is a bug of the caller and throws InternalError.
  void set(AccountKey account, Amount balance, Amount held);

  void begin_command() {
    undo_.clear();
    loaded_by_command_.clear();
  }
  void roll_back_command();
  /// Writes every changed row.
  void flush();
  void forget();

 private:
  struct Copy {
    AccountState state;
    bool dirty = false;
  };
  Copy& load(AccountKey account);
  void compare(AccountKey account);

  Connection& writer_;
  BalanceState state_ = BalanceState::unverified;
  AccountFault fault_of_ = nullptr;
  std::unordered_map<AccountKey, Copy> copies_;
  std::vector<AccountState> undo_;
  std::vector<AccountKey> loaded_by_command_;
};

}  // namespace coffer::store
