#include "flows/identity/quotas.h"

#include <algorithm>

#include "store/identity/quotas.h"
#include "store/identity/tenants.h"

namespace coffer::flows {
namespace {

void add_states(const QuotaDefaults& defaults, const store::QuotaUse& use,
                std::vector<QuotaState>& out) {
  for (std::size_t i = 0; i < kQuotaCount; ++i) {
    const auto quota = static_cast<Quota>(i);
    out.push_back({use.tenant, use.environment, quota, use.used.at(i),
                   use.limits.at(i).value_or(defaults.of(use.environment, quota))});
  }
}

}  // namespace

double QuotaState::ratio() const {
  if (limit == kUnlimited) return 0;
  if (limit == 0) return used > 0 ? 1 : 0;
  return static_cast<double>(used) / static_cast<double>(limit);
}

std::vector<QuotaState> quotas_of(const Context& context, store::Connection& db,
                                  const Tenant& tenant) {
  std::vector<QuotaState> out;
  add_states(context.queue.quota_defaults(), store::quota_use(db, tenant, context.queue.now()),
             out);
  return out;
}

Result<std::vector<QuotaState>> quotas_of(const Context& context, const Tenant& tenant) {
  return context.read([&](store::Connection& db) { return quotas_of(context, db, tenant); });
}

std::vector<QuotaState> all_quotas(const Context& context, store::Connection& db) {
  std::vector<QuotaState> out;
  for (const store::QuotaUse& use : store::all_quota_use(db, context.queue.now())) {
    add_states(context.queue.quota_defaults(), use, out);
  }
  std::ranges::stable_sort(out, [](const auto& a, const auto& b) { return a.ratio() > b.ratio(); });
  return out;
}

Result<std::vector<QuotaState>> set_quota(const Context& context, AssociationId association,
                                          Environment environment, Quota quota,
                                          std::optional<std::int64_t> limit) {
  COFFER_TRY(const Tenant tenant, context.write([&](store::WriteTx& tx) -> Result<Tenant> {
    COFFER_TRY(const auto found,
               existing(store::find_tenant(tx.db(), association, environment), "association"));
    tx.quotas().set_limit(found.key, quota, limit, tx.now());
    return found;
  }));
  return quotas_of(context, tenant);
}

}  // namespace coffer::flows
