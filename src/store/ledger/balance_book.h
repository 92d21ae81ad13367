// The writer's working copy of balances during one batch.
//
// The balance of a busy account changes many times in a batch, but its row is written once, at the
// end. Rolling back a command also restores the balances here. Nothing is kept after the batch.
#pragma once

#include <unordered_map>
#include <vector>

#include "domain/ledger/ledger.h"
#include "store/connection.h"

namespace coffer::store {

class BalanceBook {
 public:
  explicit BalanceBook(Connection& writer) : writer_(writer) {}

  /// The account's state within the running batch. Throws InternalError on an unknown key.
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

  Connection& writer_;
  std::unordered_map<AccountKey, Copy> copies_;
  std::vector<AccountState> undo_;
  std::vector<AccountKey> loaded_by_command_;
};

}  // namespace coffer::store
