#include "store/lists/event_walk.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "domain/payments/payment.h"
#include "domain/webhooks/event_type.h"
#include "store/lists/payment_walk.h"
#include "store/rows/columns.h"

namespace coffer::store {
namespace {

constexpr const char* kEventsAfter =
    "SELECT e.sequence, e.payment, e.type, e.version, p.version, p.status,"
    " p.corrected_at IS NOT NULL OR p.refunded_amount IS NOT NULL"
    " OR (p.type IN (6, 7) AND p.status IN (4, 6)) FROM events e"
    " LEFT JOIN payments p ON p.payment = e.payment WHERE e.tenant = ? AND e.sequence > ?"
    " ORDER BY e.sequence LIMIT ?";
static_assert(stored(PaymentType::onramp) == 6);
static_assert(stored(PaymentType::onramp_reference) == 7);
static_assert(stored(PaymentStatus::refund_pending) == 4);
static_assert(stored(PaymentStatus::refund_failed) == 6);
constexpr const char* kVersion = "SELECT version FROM payments WHERE payment = ?";

constexpr std::string_view kGap = "sequences_have_no_gap";
constexpr std::string_view kEventsTellAll = "events_tell_all";

/// Number of final events of a payment in this status.
int wanted_endings(PaymentStatus status, int failed_refunds) {
  switch (status) {
    case PaymentStatus::initiated:
    case PaymentStatus::processing:
      return 0;
    case PaymentStatus::succeeded:
    case PaymentStatus::failed:
    case PaymentStatus::expired:
      return 1;
    case PaymentStatus::refund_pending:
      return 2;
    case PaymentStatus::refund_failed:
      return 3;
    case PaymentStatus::refunded:  // one more if the refund had failed before
      return 3 + std::min(failed_refunds, 1);
  }
  return -1;
}

bool is_final(PaymentStatus status) {
  return status == PaymentStatus::succeeded || status == PaymentStatus::failed ||
         status == PaymentStatus::refunded || status == PaymentStatus::expired;
}

/// The first payments of a tenant after a payment, read along the indexes of lists. In a file with
/// many tenants, a scan of all payments, or of all of the tenant's payments, would be unbounded.
std::vector<std::int64_t> payments_after(Connection& db, std::int64_t tenant, std::int64_t payment,
                                         std::int64_t count) {
  PaymentsWanted wanted;
  wanted.tenants = std::vector{tenant};
  KeyWalk walk(db, {.key = payment, .limit = static_cast<int>(count)}, Order::ascending);
  return PaymentWalk(db, wanted, walk).read().keys;
}

std::string payment_text(std::int64_t payment) { return "payment " + std::to_string(payment); }

}  // namespace

struct EventWalk::Event {
  std::int64_t sequence = 0;
  std::optional<std::int64_t> payment;
  EventType type{};
  std::int64_t version = 0;
  std::optional<std::int64_t> payment_version;
  PaymentStatus status{};
  bool reopened = false;  // corrected, or refunded after success
};

/// Payments of the tenant, in order, whose first event was not seen yet.
class EventWalk::Unseen {
 public:
  explicit Unseen(std::vector<std::int64_t> payments) : payments_(std::move(payments)) {}
  /// Skips all payments up to `payment`; returns the first one before it that had no event.
  std::optional<std::int64_t> pass(std::int64_t payment) {
    std::optional<std::int64_t> missed;
    for (; at_ < payments_.size() && payments_[at_] <= payment; ++at_) {
      if (payments_[at_] < payment && !missed) missed = payments_[at_];
    }
    return missed;
  }

 private:
  std::vector<std::int64_t> payments_;
  std::size_t at_ = 0;
};

bool EventWalk::next_tenant(Connection& db) {
  const auto found = first_integer(
      db, "SELECT tenant FROM tenants WHERE tenant > ? ORDER BY tenant LIMIT 1", tenant_);
  tenant_ = found.value_or(0);
  between_tenants_ = !found;
  compared_ = 0;
  return found.has_value();
}

bool EventWalk::step(Connection& db, std::int64_t limit, std::int64_t& rows, const Report& report) {
  if (between_tenants_ && !next_tenant(db)) return false;
  Place& place = places_[tenant_];
  std::int64_t count = 0;
  {
    Unseen unseen(payments_after(db, tenant_, place.payment, limit));
    Query query(db, kEventsAfter, tenant_, place.sequence, limit);
    for (; query.step(); ++count) {
      judge(row_of<Event, std::int64_t, std::optional<std::int64_t>, EventType, std::int64_t,
                   std::optional<std::int64_t>, PaymentStatus, bool>(query),
            unseen, place, report);
    }
  }
  rows += count;
  if (count == limit) return true;
  // All events in this snapshot were read, so all of its payments must have their events.
  between_tenants_ = !compare_open(db, limit, place, report);
  return true;
}

void EventWalk::judge(const Event& event, Unseen& unseen, Place& place, const Report& report) {
  if (event.sequence != place.sequence + 1) {
    report(kGap,
           "tenant " + std::to_string(tenant_) + " sequence " + std::to_string(event.sequence));
  }
  place.sequence = event.sequence;
  if (event.payment && info(event.type).reached) {
    judge_payment(event, unseen, place, report);
  }
}

void EventWalk::judge_payment(const Event& event, Unseen& unseen, Place& place,
                              const Report& report) {
  const std::int64_t payment = *event.payment;
  const auto [at, first] = place.open.try_emplace(payment);
  Told& told = at->second;
  // The payment was complete when its earlier events were read, and was corrected or refunded
  // since.
  const bool resumed = first && event.reopened && event.version > 1;
  if (resumed) {
    told.version = event.version - 1;
  } else if (first) {
    const auto missed = unseen.pass(payment);
    if (missed) report(kEventsTellAll, payment_text(*missed) + " has no events");
    if (payment <= place.payment)
      report(kEventsTellAll, payment_text(payment) + " has one event too many");
    place.payment = std::max(place.payment, payment);
  }
  if (event.version != told.version + 1 || event.version > event.payment_version.value_or(0)) {
    report(kEventsTellAll, payment_text(payment) + " has an event of version " +
                               std::to_string(event.version) + " after that of version " +
                               std::to_string(told.version));
  }
  told.version = event.version;
  if (is_settled(*info(event.type).reached)) ++told.endings;
  if (event.type == EventType::payment_refund_failed) ++told.failed_refunds;
  if (event.version != event.payment_version) return;
  if (!event.reopened && told.endings != wanted_endings(event.status, told.failed_refunds)) {
    report(kEventsTellAll, payment_text(payment) + " in status " +
                               std::to_string(stored(event.status)) + " has " +
                               std::to_string(told.endings) + " events that end it");
  }
  if (is_final(event.status)) place.open.erase(at);
}

/// Returns whether payments are left to compare in another snapshot.
bool EventWalk::compare_open(Connection& db, std::int64_t limit, Place& place,
                             const Report& report) {
  for (const std::int64_t missed : payments_after(db, tenant_, place.payment, 1)) {
    report(kEventsTellAll, payment_text(missed) + " has no events");
  }
  auto at = place.open.upper_bound(compared_);
  for (std::int64_t count = 0; at != place.open.end() && count < limit; ++at, ++count) {
    compared_ = at->first;
    const std::int64_t version = first_integer(db, kVersion, at->first).value_or(0);
    if (version == at->second.version) continue;
    report(kEventsTellAll, payment_text(at->first) + " of version " + std::to_string(version) +
                               " has events up to version " + std::to_string(at->second.version));
  }
  return at != place.open.end();
}

}  // namespace coffer::store
