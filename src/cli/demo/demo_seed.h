// The content of a demo database: assets, a market, an association and its wallets.
#pragma once

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
  std::vector<store::WalletRow> wallets;  // two own USDC wallets first
  DemoRecipients recipients;
};

/// Creates the content of the demo in a new file, continues an interrupted creation, or finds the
/// existing content. `conflict` for a file with other content. Calls `progress` for each created
/// part.
Result<DemoWorld> ensure_demo_world(
    App& app, const ProgressFunction& progress = [](const Progress&) {});

}  // namespace coffer::cli
