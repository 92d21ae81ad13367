#include "flows/webhooks/queue_deliveries.h"

#include <algorithm>
#include <map>
#include <optional>

#include "flows/operations/figures.h"
#include "flows/webhooks/event_body.h"
#include "flows/webhooks/webhooks.h"
#include "store/rows/guarded_rows.h"
#include "store/webhooks/deliveries.h"

namespace coffer::flows {
namespace {

constexpr int kEventsPerRound = 256;
// Enough due deliveries to keep the senders of an endpoint busy for a while. Further events wait in
// their own rows at no cost, because payments need the writer more than a longer queue does.
constexpr int kDueEnough = 512;

/// Whether an endpoint receives this event.
bool is_wanted(const store::WebhookRow& webhook, const store::EventRow& event) {
  if (event.type == EventType::webhook_test) return event.webhook == webhook.key;
  return webhook.types.contains(event.type);
}

/// Whether coffer wrote the row; logs if it did not.
bool is_intact(store::Connection& db, std::string_view table, std::int64_t row,
               std::initializer_list<store::FoundBy> found_by) {
  try {
    store::require_intact(db, table, row, found_by);
    return true;
  } catch (const store::ForeignChange& change) {
    store::log_once(change);
    return false;
  }
}

class Planner {
 public:
  Planner(const Context& context, store::Connection& db, const store::WebhookRow& webhook,
          QueuePlan& plan)
      : limit_(context.webhooks->policy.body_bytes_max),
        db_(db),
        webhook_(webhook),
        bodies_(context, db, webhook.tenant),
        plan_(plan) {}

  void add_new_events(Timestamp now) {
    if (store::are_due(db_, webhook_.key, now, kDueEnough)) return;
    const auto events = store::events_after(db_, webhook_.tenant, webhook_.cursor, kEventsPerRound);
    bool any = false;
    for (const store::EventRow& event : events) {
      if (!is_wanted(webhook_, event)) continue;
      any = true;
      if (auto body = rendered(event)) add(event, *std::move(body), false);
    }
    const bool full = static_cast<int>(events.size()) == kEventsPerRound;
    plan_.more = plan_.more || full;
    // Advances the cursor only with a delivery or a full read: rereading a few unsubscribed events
    // is cheaper than a commit for them.
    if (any || full) plan_.cursors.emplace_back(webhook_.key, events.back().sequence);
  }

  void add_piece_of(const store::Recovery& recovery) {
    std::int64_t next = recovery.last + 1;
    const auto events =
        store::events_after(db_, webhook_.tenant, recovery.next - 1, kEventsPerRound);
    for (const store::EventRow& event : events) {
      if (event.sequence > recovery.last) break;
      if (is_wanted(webhook_, event) && is_missing(event)) {
        const bool kept = store::has_event_body(db_, webhook_.tenant, event.sequence);
        auto body = kept ? std::optional<std::string>("") : rendered(event);
        if (body) add(event, *std::move(body), true);
      }
    }
    const bool full = static_cast<int>(events.size()) == kEventsPerRound;
    if (full) next = std::min(next, events.back().sequence + 1);
    plan_.more = true;  // the rest of it, or the next recovery
    plan_.recoveries.emplace_back(recovery, next);
  }

 private:
  /// Whether the delivery is dead, or was never queued for this endpoint.
  bool is_missing(const store::EventRow& event) {
    const auto delivery =
        store::find_delivery_at(db_, webhook_.tenant, webhook_.key, event.sequence);
    return !delivery || delivery->state == DeliveryState::dead;
  }

  /// nullopt for an event that another program inserted or changed, which is not delivered.
  std::optional<std::string> rendered(const store::EventRow& event) {
    try {
      return bodies_.render(event);
    } catch (const store::ForeignChange& change) {
      store::log_once(change);
      return std::nullopt;
    }
  }

  void add(const store::EventRow& event, std::string body, bool again) {
    const bool oversize = body.size() > limit_;
    plan_.items.push_back({webhook_.tenant, webhook_.key, event.sequence,
                           oversize ? std::string() : std::move(body), oversize, again});
  }

  const std::size_t limit_;
  store::Connection& db_;
  const store::WebhookRow& webhook_;
  EventBodies bodies_;
  QueuePlan& plan_;
};

}  // namespace

QueuePlan plan_deliveries(const Context& context, store::Connection& db,
                          const std::vector<store::WebhookRow>& webhooks) {
  QueuePlan plan;
  const Timestamp now = context.queue.now();
  for (const store::WebhookRow& webhook : webhooks) {
    if (!is_intact(db, "webhooks", webhook.key, {{"disabled_at", std::nullopt}})) continue;
    Planner(context, db, webhook, plan).add_new_events(now);
  }
  for (const store::Recovery& recovery : store::next_recoveries(db)) {
    const auto it = std::ranges::find_if(
        webhooks, [&](const auto& webhook) { return webhook.key == recovery.webhook; });
    if (it == webhooks.end()) continue;
    if (!is_intact(db, "webhooks", it->key, {{"disabled_at", std::nullopt}})) continue;
    if (!is_intact(db, "webhook_recoveries", recovery.key, {{"webhook", it->key}})) continue;
    Planner(context, db, *it, plan).add_piece_of(recovery);
  }
  return plan;
}

void queue_deliveries(const Context& context, store::WriteTx& tx, const QueuePlan& plan) {
  // A webhook that was disabled in the meantime receives no further deliveries.
  std::map<std::int64_t, bool> known;
  const auto is_active = [&](std::int64_t webhook) {
    const auto [it, is_new] = known.try_emplace(webhook, false);
    if (is_new) {
      const auto row = store::find_webhook_by_key(tx.db(), webhook);
      it->second = row && row->is_active();
    }
    return it->second;
  };
  for (const QueuePlan::Item& item : plan.items) {
    if (!is_active(item.webhook)) continue;
    if (!item.body.empty()) {
      store::keep_event_body(tx, item.tenant, item.sequence, item.body);
    }
    const auto there =
        item.again ? store::find_delivery_at(tx.db(), item.tenant, item.webhook, item.sequence)
                   : std::nullopt;
    if (!there) {
      const auto state = item.oversize ? DeliveryState::oversize : DeliveryState::pending;
      store::insert_delivery(tx, item.tenant, item.webhook, item.sequence, state);
      count_delivery(context, tx, state);
    } else if (there->state == DeliveryState::dead) {
      store::requeue_delivery(tx, item.webhook, item.sequence);
    }
  }
  for (const auto& [webhook, sequence] : plan.cursors) {
    store::set_webhook_cursor(tx, webhook, sequence);
  }
  for (const auto& [recovery, next] : plan.recoveries) {
    if (is_active(recovery.webhook)) store::advance_recovery(tx, recovery, next);
  }
}

}  // namespace coffer::flows
