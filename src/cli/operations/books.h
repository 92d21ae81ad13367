// The books of an environment for an accountant's program (docs/operating.md#books).
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "cli/command.h"
#include "store/operations/books.h"

namespace coffer::cli {

/// Writes the accounts, the balances at the start, every entry set and the balances at the end.
/// Amounts are debits; those of the ledger are credits, so they have the opposite sign. The same
/// period gives the same bytes at any later time. Uses constant memory.
void write_books(store::Connection& db, const store::BookPeriod& period, std::string_view format,
                 const std::function<void(const std::string&)>& take);

}  // namespace coffer::cli
