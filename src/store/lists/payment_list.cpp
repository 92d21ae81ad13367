// In a list sorted by creation, the position is the key of a payment. In a list sorted by change,
// it is the sequence of the payment's last event, because events are in the order of changes.
#include "store/lists/payment_list.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <map>
#include <set>

#include "domain/webhooks/event_type.h"
#include "store/lists/payment_walk.h"
#include "store/webhooks/events.h"

namespace coffer::store {
namespace {

constexpr const char* kWalletOf = "SELECT wallet FROM wallets WHERE id = ? AND tenant = ?";
constexpr const char* kAssetOf = "SELECT asset FROM assets WHERE code = ?";
constexpr const char* kBeneficiaryOf =
    "SELECT beneficiary FROM beneficiaries WHERE id = ? AND tenant = ?";
constexpr const char* kConnectorOf = "SELECT connector FROM connectors WHERE id = ?";

// The last event of a payment has the payment's version.
constexpr KeyIndex kChanges = COFFER_KEY_INDEX("sequence", "events", "tenant = ?3");
constexpr const char* kChanged =
    "SELECT " COFFER_PAYMENT_FILTER_COLUMNS
    " FROM events e CROSS JOIN payments p ON p.payment = e.payment AND p.version = e.version"
    " WHERE e.tenant = ? AND e.sequence = ? AND e.type <= 6 AND e.test = 0";
constexpr const char* kChangesSince =
    "SELECT e.at, e.sequence, p.payment FROM events e LEFT JOIN payments p"
    " ON p.payment = e.payment AND p.version = e.version AND e.type <= 6 AND e.test = 0"
    " WHERE e.tenant = ? AND e.sequence >= ? ORDER BY e.sequence";
constexpr const char* kUpdated = "SELECT updated_at FROM payments WHERE payment = ?";
static_assert(stored(EventType::payment_refund_failed) == 6);

// Lists of at most this many payments or events are sorted in memory.
constexpr int kSortedMax = 1'500;

/// Returns false if the filter refers to something that the tenant does not have.
bool resolve(Connection& db, const Tenant& tenant, const PaymentFilter& filter,
             PaymentsWanted& out) {
  out.tenants = std::vector{tenant.key};
  out.status = filter.status;
  out.type = filter.type;
  out.from = filter.created_from;
  out.to = filter.created_to;
  out.reference = filter.reference;
  out.transaction_id = filter.transaction_id;
  out.metadata = filter.metadata;
  out.updated_from = filter.updated_from;
  if (filter.wallet) out.wallet = first_integer(db, kWalletOf, *filter.wallet, tenant.key);
  if (filter.asset) out.asset = first_integer(db, kAssetOf, filter.asset->value());
  if (filter.beneficiary) {
    out.beneficiary = first_integer(db, kBeneficiaryOf, *filter.beneficiary, tenant.key);
  }
  if (filter.connector) out.connector = first_integer(db, kConnectorOf, *filter.connector);
  return filter.wallet.has_value() == out.wallet.has_value() &&
         filter.asset.has_value() == out.asset.has_value() &&
         filter.beneficiary.has_value() == out.beneficiary.has_value() &&
         filter.connector.has_value() == out.connector.has_value();
}

/// The rows of a page before their records are read, in reading order.
struct Places {
  std::vector<std::int64_t> payments;
  std::vector<std::int64_t> positions;
  std::optional<std::int64_t> next;
};

class List {
 public:
  List(Connection& db, const Tenant& tenant, const PaymentsWanted& wanted, const PageAt& page)
      : db_(db), tenant_(tenant), wanted_(wanted), page_(page) {}

  Places by_creation() {
    KeyWalk walk(db_, page_);
    PaymentWalk payments(db_, wanted_, walk);
    const KeyPage found = payments.read(changed_lately(walk));
    return {found.keys, found.keys, found.next};
  }

  Places by_change() {
    KeyWalk walk(db_, {.limit = kSortedMax});
    walk.spend(kRowsMax / 2);
    PaymentWalk payments(db_, wanted_, walk);
    if (payments.is_narrow()) {
      const KeyPage found = payments.read();
      if (!found.next) return sorted_by_change(found.keys);
    }
    return along_changes(payments.is_narrow() ? kRowsMax / 2 : 0);
  }

 private:
  /// The first event that can be relevant: no payment changed before it was created.
  std::int64_t first_change() {
    const Timestamp since =
        std::max(wanted_.updated_from.value_or(Timestamp{}), wanted_.from.value_or(Timestamp{}));
    return since.ms == 0 ? 1 : first_sequence_since(db_, tenant_, since);
  }

  /// The payments of the events since `updated_from`, if there are few. A list by creation cannot
  /// otherwise find old payments that changed recently.
  KeySources changed_lately(KeyWalk& walk) {
    if (!wanted_.updated_from) return {};
    const std::int64_t first = first_sequence_since(db_, tenant_, *wanted_.updated_from);
    const std::int64_t end = last_sequence(db_, tenant_) + 1;
    if (end - first > kSortedMax) return {};
    walk.spend(end - first);
    return {walk.known(integers(
        db_, "SELECT payment FROM events WHERE tenant = ? AND sequence >= ?", tenant_.key, first))};
  }

  /// The payments in the order of their last events. `spent`: rows read before.
  Places along_changes(std::int64_t spent) {
    KeyWalk walk(db_, page_);
    walk.spend(spent);
    PaymentWalk payments(db_, wanted_, walk);
    std::vector<std::int64_t> matches;
    const auto fits = [&](std::int64_t sequence) {
      Query q(db_, kChanged, tenant_.key, sequence);
      if (!q.step()) return false;
      walk.spend(1);
      if (!payments.fits(q)) return false;
      matches.push_back(q.integer(0));
      return true;
    };
    const KeyPage found =
        walk.read({{walk.along(kChanges, tenant_.key)}}, fits, {.lowest = first_change()});
    matches.resize(found.keys.size());  // without the first one of the next page
    return {std::move(matches), found.keys, found.next};
  }

  /// All matching payments in the order of their changes. Events are read only for the page.
  Places sorted_by_change(const std::vector<std::int64_t>& payments) {
    std::map<std::int64_t, std::set<std::int64_t>> by_time;  // in reading order
    const auto place_of = [&](Timestamp at) { return page_.backward ? at.ms : -at.ms; };
    std::int64_t first = std::numeric_limits<std::int64_t>::min();
    if (page_.key) {
      if (const auto last = event_at(db_, tenant_, *page_.key)) first = place_of(last->at);
    }
    for (const std::int64_t payment : payments) {
      const Timestamp at{first_integer(db_, kUpdated, payment).value()};
      if (place_of(at) >= first) by_time[place_of(at)].insert(payment);
    }
    Places out;
    for (const auto& [place, changed] : by_time) {
      auto changes = changes_at(Timestamp{std::abs(place)}, changed);
      if (!page_.backward) std::ranges::reverse(changes);
      for (const auto& [sequence, payment] : changes) {
        if (page_.key && (page_.backward ? sequence <= *page_.key : sequence >= *page_.key)) {
          continue;
        }
        if (out.payments.size() == static_cast<std::size_t>(page_.limit)) {
          out.next = out.positions.back();
          return out;
        }
        out.payments.push_back(payment);
        out.positions.push_back(sequence);
      }
    }
    return out;
  }

  /// The sequence of each of these payments whose last change was at `at`, and the payment.
  std::vector<std::pair<std::int64_t, std::int64_t>> changes_at(
      Timestamp at, const std::set<std::int64_t>& payments) {
    std::vector<std::pair<std::int64_t, std::int64_t>> out;
    Query q(db_, kChangesSince, tenant_.key, first_sequence_since(db_, tenant_, at));
    while (q.step() && q.time(0) == at) {
      if (payments.contains(q.integer(2))) out.emplace_back(q.integer(1), q.integer(2));
    }
    return out;
  }

  Connection& db_;
  const Tenant& tenant_;
  const PaymentsWanted& wanted_;
  const PageAt& page_;
};

}  // namespace

PaymentPage list_payments(Connection& db, const Tenant& tenant, const PaymentFilter& filter,
                          const PageAt& page) {
  PaymentPage out;
  PaymentsWanted wanted;
  if (!resolve(db, tenant, filter, wanted)) return out;
  List list(db, tenant, wanted, page);
  Places found = filter.sort == PaymentSort::created_at ? list.by_creation() : list.by_change();
  if (page.backward) {
    std::ranges::reverse(found.payments);
    std::ranges::reverse(found.positions);
  }
  for (const std::int64_t payment : found.payments) {
    out.records.push_back(*find_payment_by_key(db, payment));
  }
  out.positions = std::move(found.positions);
  out.next = found.next;
  return out;
}

}  // namespace coffer::store
