// The demo's beneficiaries and connectors: at least one of every kind for off-ramps and on-ramps.
#pragma once

#include <vector>

#include "base/result.h"
#include "domain/identity/tenant.h"
#include "domain/providers/connector.h"
#include "flows/parties/beneficiary_changes.h"
#include "store/ledger/wallets.h"

namespace coffer {
class App;
}

namespace coffer::cli {

struct DemoRecipients {
  std::vector<flows::BeneficiaryState> beneficiaries;
  std::vector<ConnectorTerms> connectors;
};

/// Creates them once per file, or finds the existing ones. `wallets` is in the order of
/// demo_seed.h: the CRYPTO destination is the address of the second one.
Result<DemoRecipients> ensure_demo_recipients(App& app, const Tenant& tenant,
                                              const std::vector<store::WalletRow>& wallets);

}  // namespace coffer::cli
