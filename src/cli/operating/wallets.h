// coffer wallet list, show and statement, over all tenants. cli/commands/wallets.h
// has the commands that change a wallet.
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
