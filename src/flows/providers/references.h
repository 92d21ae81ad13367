// Registration of on-ramp references (docs/contract.md#references).
#pragma once

#include <string>

#include "domain/identity/tenant.h"
#include "flows/context.h"
#include "store/providers/references.h"

namespace coffer::flows {

struct NewReference {
  ConnectorId connector;
  std::string settlement_account;  // as the caller sent it
  std::string customer_id;
};

/// Calls the provider without an open transaction, then stores the issued references. `not-found`
/// (a settlement account that is malformed or not the caller's; the connector; a customer unknown
/// to the provider), `references-exist`, `conflict` (the provider could not assign a reference),
/// `trustline-missing`, `wallet-not-verified`, `validation-failed` (the connector issues no
/// references), and failures of the provider.
Result<store::ReferenceRow> register_reference(const Context& context, const Caller& caller,
                                               const NewReference& request);

}  // namespace coffer::flows
