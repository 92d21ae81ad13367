// The number and success of payments over time.
#pragma once

#include <compare>
#include <map>
#include <optional>
#include <vector>

#include "domain/ledger/money.h"
#include "domain/payments/payment.h"
#include "store/rows/key_walk.h"

namespace coffer::store {

/// The common properties of failed payments: the reason (none: expired), and the connector and
/// asset keys (0: none).
struct FailureKind {
  std::optional<FailureCode> code;
  std::int64_t connector = 0;
  std::int64_t asset = 0;
  auto operator<=>(const FailureKind&) const = default;
};

struct ActivityBucket {
  Timestamp from;
  Timestamp to;
  std::int64_t payments = 0;
  std::int64_t succeeded = 0;
  std::int64_t failed = 0;  // includes refunded and expired payments; the others are in progress
  struct Volume {
    Amount amount;
    std::int64_t payments = 0;
  };
  std::map<std::int64_t, Volume> volume;  // by asset key, without failed payments
  std::map<FailureKind, std::int64_t> failures;
  bool sampled = false;  // estimated from an evenly distributed sample of the payments
};

struct ActivityWanted {
  TenantKeys tenants;
  Timestamp from;
  std::int64_t width_ms = 0;
  int buckets = 1;
};
/// Payments by time of acceptance, with their current status. Reads at most about 10,000 payments.
/// Without `tenants`, the number of payments is exact even if the rest is estimated.
std::vector<ActivityBucket> activity(Connection& db, const ActivityWanted& wanted);

}  // namespace coffer::store
