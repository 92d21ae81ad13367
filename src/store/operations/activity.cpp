#include "store/operations/activity.h"

#include <algorithm>

#include "store/operations/payment_lists.h"

namespace coffer::store {
namespace {

constexpr std::int64_t kReadMax = kRowsMax;

__extension__ typedef __int128 Wide;  // a GNU extension, the only 128-bit type

// The ledger side of an on-ramp is the received amount. A multi-transfer with several assets has no
// single volume.
#define BRIEF                                                                                   \
  "SELECT payment, tenant, status, iif(sending_asset IS NULL, receiving_asset, sending_asset)," \
  " iif(sending_asset IS NULL, receiving_amount, sending_amount), failure, connector"           \
  " FROM payments"
constexpr const char* kBetween = BRIEF " WHERE payment >= ? AND payment < ? ORDER BY payment";
constexpr const char* kFirstSince = BRIEF " WHERE payment >= ? ORDER BY payment LIMIT 1";
#undef BRIEF

FailureKind kind_at(const Query& q) {
  FailureKind out{std::nullopt, q.optional_integer(6).value_or(0),
                  q.optional_integer(3).value_or(0)};
  if (!q.is_null(5)) out.code = q.enumeration<FailureCode>(5);
  return out;
}

/// Sums of one bucket before scaling.
struct Seen {
  std::int64_t looked_at = 0;
  std::int64_t payments = 0;
  std::int64_t succeeded = 0;
  std::int64_t failed = 0;
  struct Volume {
    Wide units = 0;
    std::int64_t payments = 0;
  };
  std::map<std::int64_t, Volume> volume;
  std::map<FailureKind, std::int64_t> failures;

  void add(const Query& q, const TenantKeys& tenants) {
    ++looked_at;
    if (!contains(tenants, q.integer(1))) return;
    ++payments;
    switch (q.enumeration<PaymentStatus>(2)) {
      case PaymentStatus::succeeded:
        ++succeeded;
        break;
      case PaymentStatus::failed:
      case PaymentStatus::refund_pending:
      case PaymentStatus::refunded:
      case PaymentStatus::refund_failed:
      case PaymentStatus::expired:
        ++failed;
        ++failures[kind_at(q)];
        return;
      case PaymentStatus::initiated:
      case PaymentStatus::processing:
        break;
    }
    if (q.is_null(3) || q.is_null(4)) return;
    Volume& of_asset = volume[q.integer(3)];
    of_asset.units += q.integer(4);
    ++of_asset.payments;
  }
};

Seen look(Connection& db, const TenantKeys& tenants, std::int64_t low, std::int64_t high,
          std::int64_t step) {
  Seen out;
  if (step == 1) {
    for (Query q(db, kBetween, low, high); q.step();) out.add(q, tenants);
    return out;
  }
  for (std::int64_t at = low; at < high; at += step) {
    Query q(db, kFirstSince, at);
    if (q.step() && q.integer(0) < high) out.add(q, tenants);
  }
  return out;
}

std::int64_t scaled(Wide value, std::int64_t all, std::int64_t looked_at) {
  return looked_at == 0 ? 0 : static_cast<std::int64_t>(value * all / looked_at);
}

}  // namespace

std::vector<ActivityBucket> activity(Connection& db, const ActivityWanted& wanted) {
  std::vector<std::int64_t> edges;
  for (int i = 0; i <= wanted.buckets; ++i) {
    edges.push_back(first_payment_since(db, wanted.from.plus_ms(i * wanted.width_ms)));
  }
  const bool exact = edges.back() - edges.front() <= kReadMax;
  std::vector<ActivityBucket> out;
  for (std::size_t i = 0; i + 1 < edges.size(); ++i) {
    const std::int64_t all = edges[i + 1] - edges[i];
    const std::int64_t share = kReadMax / wanted.buckets;
    const std::int64_t step = exact ? 1 : std::max<std::int64_t>(1, (all + share - 1) / share);
    const Seen seen = look(db, wanted.tenants, edges[i], edges[i + 1], step);
    ActivityBucket bucket;
    bucket.from = wanted.from.plus_ms(static_cast<std::int64_t>(i) * wanted.width_ms);
    bucket.to = bucket.from.plus_ms(wanted.width_ms);
    bucket.payments = scaled(seen.payments, all, seen.looked_at);
    bucket.succeeded = scaled(seen.succeeded, all, seen.looked_at);
    bucket.failed = scaled(seen.failed, all, seen.looked_at);
    for (const auto& [asset, sum] : seen.volume) {
      bucket.volume[asset] = {Amount::from_units(scaled(sum.units, all, seen.looked_at)),
                              scaled(sum.payments, all, seen.looked_at)};
    }
    for (const auto& [kind, count] : seen.failures) {
      bucket.failures[kind] = scaled(count, all, seen.looked_at);
    }
    bucket.sampled = step > 1;
    out.push_back(std::move(bucket));
  }
  return out;
}

}  // namespace coffer::store
