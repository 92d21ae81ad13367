// What tenants use of their quotas, for reading; the writer counts in quota_book.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "domain/identity/quota.h"
#include "store/connection.h"

namespace coffer::store {

/// Of one tenant, in the order of the quotas.
struct QuotaUse {
  std::int64_t tenant = 0;
  Environment environment = Environment::sandbox;
  std::array<std::int64_t, kQuotaCount> used{};
  std::array<std::optional<std::int64_t>, kQuotaCount> limits{};  // empty: the default
};
QuotaUse quota_use(Connection& db, const Tenant& tenant, Timestamp now);
/// Of every association and environment that uses anything.
std::vector<QuotaUse> all_quota_use(Connection& db, Timestamp now);

}  // namespace coffer::store
