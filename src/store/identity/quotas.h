// Reads the quota usage of tenants; the writer counts it in quota_book.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "domain/identity/quota.h"
#include "store/file/connection.h"

namespace coffer::store {

/// The usage of one tenant, in the order of the quotas.
struct QuotaUse {
  std::int64_t tenant = 0;
  Environment environment = Environment::sandbox;
  std::array<std::int64_t, kQuotaCount> used{};
  std::array<std::optional<std::int64_t>, kQuotaCount> limits{};  // empty: the default
};
QuotaUse quota_use(Connection& db, const Tenant& tenant, Timestamp now);
/// The usage of all associations and environments with any.
std::vector<QuotaUse> all_quota_use(Connection& db, Timestamp now);

}  // namespace coffer::store
