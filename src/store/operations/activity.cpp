#include "store/operations/activity.h"

#include <algorithm>

#include "store/operations/payment_lists.h"
#include "store/rows/columns.h"

namespace coffer::store {
namespace {

constexpr std::int64_t kReadMax = kRowsMax;

__extension__ typedef __int128 Wide;  // a GNU extension, the only 128-bit type

struct Brief {
  std::int64_t payment = 0;
  std::int64_t tenant = 0;
  PaymentStatus status = PaymentStatus::initiated;
  // The asset of the ledger side, which is the received one for an on-ramp. A multi-transfer with
  // several assets has no single volume.
  std::optional<std::int64_t> asset;
  std::optional<Amount> amount;
  std::optional<FailureCode> failure;
  std::int64_t connector = 0;
};
constexpr Column<Brief> kBriefColumns[] = {
    joined<&Brief::payment>("payment"),
    joined<&Brief::tenant>("tenant"),
    joined<&Brief::status>("status"),
    joined<&Brief::asset>("iif(sending_asset IS NULL, receiving_asset, sending_asset)"),
    joined<&Brief::amount>("iif(sending_asset IS NULL, receiving_amount, sending_amount)"),
    joined<&Brief::failure>("failure"),
    joined<&Brief::connector>("connector"),
};
const std::string kBriefs = select(kBriefColumns) + " FROM payments";
const std::string kBetween = kBriefs + " WHERE payment >= ? AND payment < ? ORDER BY payment";
const std::string kFirstSince = kBriefs + " WHERE payment >= ? ORDER BY payment LIMIT 1";

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

  void add(const Brief& one, const TenantKeys& tenants) {
    ++looked_at;
    if (!contains(tenants, one.tenant)) return;
    ++payments;
    switch (one.status) {
      case PaymentStatus::succeeded:
        ++succeeded;
        break;
      case PaymentStatus::failed:
      case PaymentStatus::refund_pending:
      case PaymentStatus::refunded:
      case PaymentStatus::refund_failed:
      case PaymentStatus::expired:
        ++failed;
        ++failures[{one.failure, one.connector, one.asset.value_or(0)}];
        return;
      case PaymentStatus::initiated:
      case PaymentStatus::processing:
        break;
    }
    if (!one.asset || !one.amount) return;
    Volume& of_asset = volume[*one.asset];
    of_asset.units += one.amount->units();
    ++of_asset.payments;
  }
};

Seen look(Connection& db, const TenantKeys& tenants, std::int64_t low, std::int64_t high,
          std::int64_t step) {
  Seen out;
  if (step == 1) {
    Query q(db, kBetween.c_str(), low, high);
    while (q.step()) out.add(read_row<Brief>(q, kBriefColumns), tenants);
    return out;
  }
  for (std::int64_t at = low; at < high; at += step) {
    const auto first = first_row<Brief>(db, kFirstSince, kBriefColumns, at);
    if (first && first->payment < high) out.add(*first, tenants);
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
