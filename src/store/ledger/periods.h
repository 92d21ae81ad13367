// Closed months: the balances of all accounts at the end of a month, as a digest that continues the
// digest of the month before. A month is closed once, and its entries are final, so verification
// computes the same digest at any later time.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/digest.h"
#include "store/commits/write_tx.h"

namespace coffer::store {

struct ClosedPeriod {
  std::int64_t period = 0;   // year * 12 + month - 1
  std::int64_t journal = 0;  // the last entry set of the month; 0: the ledger had none
  std::string link;          // of that entry set, in the chain of all
  std::int64_t accounts = 0;
  Sha256 digest{};
  Timestamp closed_at;
};

/// Oldest first.
std::vector<ClosedPeriod> list_closed_periods(Connection& db);
/// The last closed month. Throws ForeignChange if another program changed its row.
std::optional<ClosedPeriod> last_closed_period(Connection& db);
/// The time of the first entry set.
std::optional<Timestamp> first_entry_at(Connection& db);
/// The month, which ends at `end`, with its digest. Reads every account; not for the writer.
ClosedPeriod cut_period(Connection& db, std::int64_t period, Timestamp end,
                        const std::optional<ClosedPeriod>& before);
void insert_closed_period(WriteTx& tx, const ClosedPeriod& period);
/// A sentence about the first closed month whose balances are not those of its row, or an empty
/// text.
std::string verify_closed_periods(Connection& db);

}  // namespace coffer::store
