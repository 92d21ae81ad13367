// What a demo database holds: assets, a market, an association and its wallets.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "base/telemetry/progress.h"
#include "cli/demo/demo_recipients.h"
#include "domain/ids.h"
#include "store/ledger/wallets.h"

namespace coffer {
class App;
}

namespace coffer::cli {

struct DemoWorld {
  AssociationId association;
  std::vector<store::WalletRow> wallets;  // two own ones in USDC first
  DemoRecipients recipients;
};

/// Makes the demo's world in a new file, goes on with one that was interrupted, or finds the one
/// that is there. `conflict` for a file that holds anything else. `progress` is told of what is
/// made.
Result<DemoWorld> ensure_demo_world(
    App& app, const ProgressFunction& progress = [](const Progress&) {});

}  // namespace coffer::cli
