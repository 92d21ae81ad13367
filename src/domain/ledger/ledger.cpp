#include "domain/ledger/ledger.h"

#include <algorithm>
#include <map>

namespace coffer {

Result<std::vector<Hold>> holds_for(std::span<const Posting> movements) {
  struct Run {
    Amount net;   // sum of received minus sent amounts so far
    Amount peak;  // largest shortfall so far, as a positive amount
  };
  std::map<AccountKey, Run> runs;
  for (const Posting& movement : movements) {
    Run& debit = runs[movement.debit];
    COFFER_TRY(debit.net, debit.net.sub(movement.amount));
    COFFER_TRY(const Amount shortfall, Amount().sub(debit.net));
    debit.peak = std::max(debit.peak, shortfall);
    Run& credit = runs[movement.credit];
    COFFER_TRY(credit.net, credit.net.add(movement.amount));
  }
  std::vector<Hold> holds;
  for (const auto& [account, run] : runs) {
    if (run.peak.is_positive()) holds.push_back({account, run.peak});
  }
  return holds;
}

std::ptrdiff_t first_uncovered(std::span<const Posting> movements,
                               std::span<const AccountState> accounts) {
  std::map<AccountKey, Amount> available;
  for (const AccountState& account : accounts) available[account.key] = account.available();
  for (std::size_t i = 0; i < movements.size(); ++i) {
    const Posting& movement = movements[i];
    if (const auto it = available.find(movement.debit); it != available.end()) {
      if (it->second < movement.amount) return static_cast<std::ptrdiff_t>(i);
      it->second = it->second - movement.amount;
    }
    if (const auto it = available.find(movement.credit); it != available.end()) {
      // A received amount that is too large to add covers all later movements.
      const auto sum = it->second.add(movement.amount);
      if (sum) it->second = *sum;
    }
  }
  return -1;
}

}  // namespace coffer
