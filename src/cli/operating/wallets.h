// coffer wallet list, show and statement: every wallet of the house. What changes one is in
// cli/commands/wallets.h.
#pragma once

#include <vector>

#include "cli/command.h"
#include "cli/operating/paging.h"
#include "store/wallets.h"

namespace coffer::cli {

std::vector<Command> wallet_read_commands();

/// A wallet with its balances and what its review looks at.
Record whole_wallet(store::Connection& db, const store::WalletRow& wallet, const Tenant& tenant);

}  // namespace coffer::cli
