// coffer wallet list, show and statement, over all tenants. cli/ledger/wallets.h has the commands
// that change a wallet.
#pragma once

#include "cli/command.h"
#include "cli/operations/paging.h"
#include "store/ledger/wallets.h"

namespace coffer::cli {

/// A wallet with its balances and the data for its review.
Record whole_wallet(store::Connection& db, const store::WalletRow& wallet, const Tenant& tenant);

}  // namespace coffer::cli
