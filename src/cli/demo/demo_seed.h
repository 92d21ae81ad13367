// The content of a demo database: what world.json declares, and what no declaration can contain.
#pragma once

#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "base/telemetry/progress.h"
#include "domain/identity/tenant.h"
#include "domain/providers/connector.h"
#include "flows/parties/beneficiary_changes.h"
#include "store/ledger/wallets.h"

namespace coffer {
class App;
}

namespace coffer::cli {

/// Each list is in the order of world.json.
struct DemoWorld {
  AssociationId association;
  std::vector<store::WalletRow> wallets;
  std::vector<flows::BeneficiaryState> beneficiaries;
  std::vector<ConnectorTerms> connectors;
};

/// Creates the content of the demo in a new file, continues an interrupted creation, or finds the
/// existing content. `conflict` for a file with other content. Calls `progress` for each created
/// part.
Result<DemoWorld> ensure_demo_world(
    App& app, const ProgressFunction& progress = [](const Progress&) {});

/// Carries out an embedded file for `coffer apply`. Objects that exist already stay as they are.
Result<void> apply_declarations(App& app, std::string_view file, const ProgressFunction& progress);

/// In the order of creation.
Result<std::vector<flows::BeneficiaryState>> beneficiaries_with_tag(App& app, const Tenant& tenant,
                                                                    std::string_view tag);

/// How far in the past the history of a demo starts.
inline constexpr std::int64_t kHistoryMs = 7 * kDayMs;

/// Makes payments of every kind, with successes, failures, refunds and payments in progress;
/// reviews of wallets; and deliveries to a webhook whose endpoint does not respond. Moves `clock`,
/// which is the clock of `app`, forward by less than kHistoryMs. The same seed gives the same
/// history; IDs and secrets differ.
Result<void> make_demo_history(App& app, ManualClock& clock, const DemoWorld& world,
                               ApplicationId application, std::uint64_t seed,
                               const ProgressFunction& progress);

}  // namespace coffer::cli
