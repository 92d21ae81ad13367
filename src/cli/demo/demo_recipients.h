// The demo's beneficiaries and connectors: something to cash out to, and to collect by, of every
// kind.
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

/// Makes them once per file, and finds those that are there. `wallets` as demo_seed.h orders them:
/// the CRYPTO destination is the second one's address.
Result<DemoRecipients> ensure_demo_recipients(App& app, const Tenant& tenant,
                                              const std::vector<store::WalletRow>& wallets);

}  // namespace coffer::cli
