// Quotas of an association in an environment: their usage, and the operator's limits
// (docs/contract.md#quotas).
#pragma once

#include <optional>
#include <vector>

#include "domain/identity/quota.h"
#include "flows/context.h"

namespace coffer::flows {

struct QuotaState {
  std::int64_t tenant = 0;
  Environment environment = Environment::sandbox;
  Quota quota = Quota::wallets;
  std::int64_t used = 0;
  std::int64_t limit = 0;  // or kUnlimited

  /// The used fraction: 0 without a limit, and above 1 if the limit was lowered below the usage.
  double ratio() const;
};
/// Every quota of one tenant, in the order of the table.
std::vector<QuotaState> quotas_of(const Context& context, store::Connection& db,
                                  const Tenant& tenant);
Result<std::vector<QuotaState>> quotas_of(const Context& context, const Tenant& tenant);
/// The quotas of all tenants that use anything, the fullest first.
std::vector<QuotaState> all_quotas(const Context& context, store::Connection& db);

/// Sets a limit; nullopt restores the default from the settings. The limit may be below the usage:
/// nothing is removed, but additions are rejected until enough is freed. `not-found`.
Result<std::vector<QuotaState>> set_quota(const Context& context, AssociationId association,
                                          Environment environment, Quota quota,
                                          std::optional<std::int64_t> limit);

}  // namespace coffer::flows
