// In a list sorted by creation, the position is the key of a payment. In a list sorted by change,
// it is the sequence of the payment's last event, because events are in the order of changes.
#include "store/payments/payment_list.h"

#include <algorithm>

#include "domain/webhooks/event_type.h"
#include "store/payments/payment_walk.h"
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
constexpr const char* kChangedSince =
    "SELECT payment FROM events WHERE tenant = ? AND sequence >= ?";
constexpr const char* kChangesSince =
    "SELECT at, payment, version, sequence, payment IS NOT NULL AND type <= 6 AND test = 0"
    " FROM events WHERE tenant = ? AND sequence >= ? ORDER BY sequence";
constexpr const char* kState = "SELECT version, updated_at FROM payments WHERE payment = ?";
static_assert(stored(EventType::payment_refund_failed) == 6);

// Lists of at most this many payments or events are sorted in memory.
constexpr std::int64_t kSortedMax = 1'500;

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

/// A row of a page before its record is read, in reading order.
struct Place {
  std::int64_t payment = 0;
  std::int64_t position = 0;
};
struct Places {
  std::vector<Place> places;
  std::optional<std::int64_t> cut_at;
};

class List {
 public:
  List(Connection& db, const Tenant& tenant, const PaymentsWanted& wanted, const PageAt& page)
      : db_(db), tenant_(tenant), wanted_(wanted), page_(page) {}

  Places by_creation() {
    PaymentWalk keys(db_, wanted_, order(), budget_);
    auto found = keys.read(page_.key, page_.limit, changed_lately(keys.walk()));
    Places out{{}, found.cut_at};
    for (const std::int64_t key : found.keys) out.places.push_back({key, key});
    return out;
  }

  Places by_change() {
    RowBudget half(kRowsMax / 2);
    PaymentWalk few(db_, wanted_, order(), half);
    if (few.is_narrow()) {
      const auto found = few.read({}, kSortedMax);
      if (!found.cut_at && found.keys.size() < kSortedMax) return sorted_by_change(found.keys);
      budget_ = RowBudget(kRowsMax / 2);
    }
    return along_changes();
  }

 private:
  Order order() const { return page_.backward ? Order::rising : Order::falling; }
  bool is_beyond(std::int64_t position) const {
    return !page_.key || (page_.backward ? position > *page_.key : position < *page_.key);
  }
  /// The first event that can be relevant: no payment changed before it was created.
  std::int64_t first_change() {
    const Timestamp since =
        std::max(wanted_.updated_from.value_or(Timestamp{}), wanted_.from.value_or(Timestamp{}));
    return since.ms == 0 ? 1 : first_sequence_since(db_, tenant_, since);
  }

  /// The payments of the events since `updated_from`, if there are few. A list by creation cannot
  /// otherwise find old payments that changed recently.
  std::unique_ptr<KeySet> changed_lately(const KeyWalk& walk) {
    if (!wanted_.updated_from) return nullptr;
    const std::int64_t first = first_sequence_since(db_, tenant_, *wanted_.updated_from);
    const std::int64_t end = last_sequence(db_, tenant_) + 1;
    if (end - first > kSortedMax) return nullptr;
    budget_.spend(end - first);
    return walk.known(integers(db_, kChangedSince, tenant_.key, first));
  }

  Places along_changes() {
    PaymentWalk keys(db_, wanted_, order(), budget_);
    const KeySets changes = one(keys.walk().of(kChanges, tenant_.key));
    Places out;
    KeyWalk::Part part{.beyond = page_.key, .lowest = first_change(), .limit = page_.limit};
    const auto fits = [&](std::int64_t sequence) {
      budget_.spend(1);
      Query q(db_, kChanged, tenant_.key, sequence);
      if (!q.step() || !keys.fits(q)) return false;
      out.places.push_back({q.integer(0), sequence});
      return true;
    };
    out.cut_at = keys.walk().read(changes, part, fits).cut_at;
    return out;
  }

  /// All matching payments in the order of their changes. Events are read only for the page.
  Places sorted_by_change(const std::vector<std::int64_t>& payments) {
    struct Changed {
      Timestamp at;
      std::int64_t payment;
      std::int64_t version;
    };
    std::vector<Changed> all;
    for (const std::int64_t payment : payments) {
      Query q(db_, kState, payment);
      if (q.step()) all.push_back({q.time(1), payment, q.integer(0)});
    }
    std::sort(all.begin(), all.end(), [&](const Changed& a, const Changed& b) {
      return page_.backward ? a.at < b.at : b.at < a.at;
    });
    const auto last = page_.key ? event_at(db_, tenant_, *page_.key) : std::nullopt;
    const Timestamp boundary = last ? last->at : Timestamp{};
    Places out;
    for (auto at = all.begin(); at != all.end();) {
      const auto end =
          std::find_if(at, all.end(), [&](const Changed& c) { return c.at != at->at; });
      const bool seen = last && (page_.backward ? at->at < boundary : boundary < at->at);
      if (!seen) {
        std::vector<Place> places;
        const auto changes = changes_at(at->at);
        for (const auto& [payment, version, sequence] : changes) {
          const bool listed = std::any_of(at, end, [&, p = payment, v = version](const Changed& c) {
            return c.payment == p && c.version == v;
          });
          if (listed && is_beyond(sequence)) places.push_back({payment, sequence});
        }
        if (!page_.backward) std::reverse(places.begin(), places.end());
        out.places.insert(out.places.end(), places.begin(), places.end());
      }
      if (out.places.size() >= static_cast<std::size_t>(page_.limit)) break;
      at = end;
    }
    out.places.resize(std::min(out.places.size(), static_cast<std::size_t>(page_.limit)));
    return out;
  }

  struct Change {
    std::int64_t payment;
    std::int64_t version;
    std::int64_t sequence;
  };
  std::vector<Change> changes_at(Timestamp at) {
    std::vector<Change> out;
    Query q(db_, kChangesSince, tenant_.key, first_sequence_since(db_, tenant_, at));
    while (q.step() && q.time(0) == at) {
      if (q.boolean(4)) out.push_back({q.integer(1), q.integer(2), q.integer(3)});
    }
    return out;
  }

  Connection& db_;
  const Tenant& tenant_;
  const PaymentsWanted& wanted_;
  const PageAt& page_;
  RowBudget budget_;
};

}  // namespace

PaymentPage list_payments(Connection& db, const Tenant& tenant, const PaymentFilter& filter,
                          const PageAt& page) {
  PaymentPage out;
  PaymentsWanted wanted;
  if (!resolve(db, tenant, filter, wanted)) return out;
  List list(db, tenant, wanted, page);
  Places found = filter.sort == PaymentSort::created_at ? list.by_creation() : list.by_change();
  if (page.backward) std::reverse(found.places.begin(), found.places.end());
  for (const Place& place : found.places) {
    out.records.push_back(*find_payment_by_key(db, place.payment));
    out.positions.push_back(place.position);
  }
  out.cut_at = found.cut_at;
  return out;
}

}  // namespace coffer::store
