// How much was paid over time, and how well it went.
#pragma once

#include <compare>
#include <map>
#include <optional>
#include <vector>

#include "domain/ledger/money.h"
#include "domain/payments/payment.h"
#include "store/operations/newest.h"

namespace coffer::store {

/// What payments that did not succeed have in common: the reason (none: expired), the connector
/// and asset keys (0: none).
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
  std::int64_t failed = 0;  // refunded and expired ones too; the rest is under way
  struct Volume {
    Amount amount;
    std::int64_t payments = 0;
  };
  std::map<std::int64_t, Volume> volume;  // by asset key; failed ones left out
  std::map<FailureKind, std::int64_t> failures;
  bool sampled = false;  // told from some of the payments, evenly chosen, and scaled up
};

struct ActivityWanted {
  TenantKeys tenants;
  Timestamp from;
  std::int64_t width_ms = 0;
  int buckets = 1;
};
/// Payments by when they were accepted, as they stand now. Reads at most about 10,000 payments,
/// however many there are; without `tenants` the number of payments is exact all the same.
std::vector<ActivityBucket> activity(Connection& db, const ActivityWanted& wanted);

}  // namespace coffer::store
