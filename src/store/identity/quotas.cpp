#include "store/identity/quotas.h"

#include <map>

namespace coffer::store {
namespace {

// There are few tenants and quotas; none of these queries reads the counted rows.
#define USE_COLUMNS                                                        \
  "SELECT t.tenant, t.environment, u.quota, sum(u.used) FROM quota_use u"  \
  " JOIN tenants t ON t.tenant = u.tenant WHERE t.association IS NOT NULL" \
  " AND (u.until = 0 OR u.until > ?1)"
constexpr const char* kUseOf = USE_COLUMNS " AND u.tenant = ?2 GROUP BY u.quota";
constexpr const char* kQuotaUse = USE_COLUMNS " GROUP BY u.tenant, u.quota";
#undef USE_COLUMNS

std::size_t quota_column(const Query& query, int column) {
  return static_cast<std::size_t>(query.integer(column));
}

}  // namespace

QuotaUse quota_use(Connection& db, const Tenant& tenant, Timestamp now) {
  QuotaUse out{tenant.key, tenant.environment, {}, {}};
  {
    Query query(db, kUseOf, now, tenant.key);
    while (query.step()) out.used.at(quota_column(query, 2)) = query.integer(3);
  }
  Query query(db, "SELECT quota, maximum FROM quota_limits WHERE tenant = ?", tenant.key);
  while (query.step()) out.limits.at(quota_column(query, 0)) = query.integer(1);
  return out;
}

std::vector<QuotaUse> all_quota_use(Connection& db, Timestamp now) {
  std::map<std::int64_t, QuotaUse> uses;
  {
    Query query(db, kQuotaUse, now);
    while (query.step()) {
      QuotaUse& use = uses[query.integer(0)];
      use.tenant = query.integer(0);
      use.environment = query.enumeration<Environment>(1);
      use.used.at(quota_column(query, 2)) = query.integer(3);
    }
  }
  Query query(db, "SELECT tenant, quota, maximum FROM quota_limits");
  while (query.step()) {
    const auto use = uses.find(query.integer(0));
    if (use != uses.end()) use->second.limits.at(quota_column(query, 1)) = query.integer(2);
  }
  std::vector<QuotaUse> out;
  for (const auto& [tenant, use] : uses) out.push_back(use);
  return out;
}

}  // namespace coffer::store
