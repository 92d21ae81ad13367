// Quotas of an association in an environment: what it uses, and the operator's limits
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

  /// 0 (also where there is no limit) to 1, and more when a lower limit was set since.
  double ratio() const;
};
/// Every quota of one tenant, in the order of the table.
std::vector<QuotaState> quotas_of(const Context& context, store::Connection& db,
                                  const Tenant& tenant);
Result<std::vector<QuotaState>> quotas_of(const Context& context, const Tenant& tenant);
/// Of all tenants that use anything, the fullest first.
std::vector<QuotaState> all_quotas(const Context& context, store::Connection& db);

/// Sets a limit; nullopt: the default of the settings applies again. It may be below what is used:
/// nothing is taken away, and nothing is added until enough is freed. `not-found`.
Result<std::vector<QuotaState>> set_quota(const Context& context, AssociationId association,
                                          Environment environment, Quota quota,
                                          std::optional<std::int64_t> limit);

}  // namespace coffer::flows
