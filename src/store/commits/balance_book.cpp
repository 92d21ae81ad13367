#include "store/commits/balance_book.h"

#include "base/check.h"
#include "store/rows/guarded_rows.h"

namespace coffer::store {
namespace {

constexpr const char* kLoad = "SELECT asset, kind, balance, held FROM accounts WHERE account = ?";
constexpr const char* kStoreBalance = "UPDATE accounts SET balance = ?, held = ? WHERE account = ?";

}  // namespace

/// Reads what the last commit left, because the running batch writes its balances at its end.
void BalanceBook::compare(AccountKey account) {
  COFFER_CHECK(fault_of_ != nullptr);
  const bool holds = state_ == BalanceState::damaged;
  const std::string fault = fault_of_(committed_rows(writer_), account, holds);
  if (!fault.empty()) throw ForeignChange(fault);
}

BalanceBook::Copy& BalanceBook::load(AccountKey account) {
  if (state_ != BalanceState::sound && !copies_.contains(account)) compare(account);
  const auto [it, fresh] = copies_.try_emplace(account);
  if (fresh) {
    Query query(writer_, kLoad, account);
    if (!query.step()) {
      copies_.erase(it);
      throw InternalError("no account " + std::to_string(account));
    }
    it->second.state = {account, query.integer(0), query.enumeration<AccountKind>(1),
                        query.amount(2), query.amount(3)};
    loaded_by_command_.push_back(account);
  }
  return it->second;
}

const AccountState& BalanceBook::get(AccountKey account) { return load(account).state; }

void BalanceBook::set(AccountKey account, Amount balance, Amount held) {
  Copy& copy = load(account);
  undo_.push_back(copy.state);
  COFFER_CHECK(!held.is_negative());
  COFFER_CHECK(may_be_negative(copy.state.kind) || balance >= held);
  copy.state.balance = balance;
  copy.state.held = held;
  copy.dirty = true;
}

void BalanceBook::roll_back_command() {
  // In reverse, so that the oldest state of an account is restored last.
  for (auto it = undo_.rbegin(); it != undo_.rend(); ++it) copies_.at(it->key).state = *it;
  undo_.clear();
  // The rollback of the savepoint has removed accounts that the command created.
  for (const AccountKey account : loaded_by_command_) copies_.erase(account);
  loaded_by_command_.clear();
}

void BalanceBook::flush() {
  for (auto& [account, copy] : copies_) {
    if (!copy.dirty) continue;
    writer_.run(kStoreBalance, copy.state.balance, copy.state.held, account);
    COFFER_CHECK(writer_.changes() == 1);
    copy.dirty = false;
  }
}

void BalanceBook::forget() {
  copies_.clear();
  undo_.clear();
}

}  // namespace coffer::store
