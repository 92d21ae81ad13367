#include "flows/webhooks/deliver.h"

#include <limits>

#include "base/fault.h"
#include "base/telemetry/log.h"
#include "flows/operations/figures.h"
#include "flows/webhooks/event_body.h"
#include "flows/webhooks/outcomes.h"
#include "flows/webhooks/queue_deliveries.h"
#include "flows/webhooks/webhook_changes.h"
#include "flows/webhooks/webhooks.h"
#include "store/rows/guarded_rows.h"
#include "store/webhooks/events.h"

namespace coffer::flows {
namespace {

constexpr std::int64_t kForeverMs = std::numeric_limits<std::int64_t>::max();
constexpr int kPruneBatch = 500;

Result<QueuePlan> read_plan(const Context& context) {
  return context.read([&](store::Connection& db) {
    return plan_deliveries(context, db, store::active_webhooks(db));
  });
}

/// Records a result that could not be recorded together with others. If another program changed the
/// rows so that this is impossible, the delivery has failed: another attempt would not be recorded
/// either.
void record_alone(const Context& context, DeliveryLanes& lanes, const DeliveryOutcome& outcome) {
  auto recorded = context.write([&](store::WriteTx& tx) {
    record_outcomes(context, tx, {&outcome, 1});
  });
  if (!recorded && recorded.error().slug == Slug::unexpected_error) {
    log_error("webhooks", "an attempt could not be recorded; the delivery has failed",
              {{"event_id", outcome.delivery.id.to_string()}});
    recorded = context.write([&](store::WriteTx& tx) {
      store::give_up_delivery(tx, outcome.delivery.webhook, outcome.delivery.sequence);
    });
  }
  recorded ? lanes.release({outcome}) : lanes.put_back({outcome});
}

/// Writes the plan and all results in one commit. If that fails unexpectedly, retries the plan and
/// each result in separate commits. Results that wait for space are kept. Returns the number of
/// results.
Result<int> write(const Context& context, DeliveryLanes& lanes, const QueuePlan& plan) {
  std::vector<DeliveryOutcome> outcomes = lanes.take_outcomes();
  const int count = static_cast<int>(outcomes.size());
  if (plan.empty() && outcomes.empty()) return 0;
  const auto together = context.write([&](store::WriteTx& tx) {
    queue_deliveries(context, tx, plan);
    record_outcomes(context, tx, outcomes);
  });
  if (together) {
    lanes.release(outcomes);
    return count;
  }
  if (together.error().slug != Slug::unexpected_error) {
    lanes.put_back(std::move(outcomes));
    return unexpected(together.error());
  }
  log_error("webhooks",
            "the deliveries of a round could not be recorded together; recording each one");
  const auto queued =
      context.write([&](store::WriteTx& tx) { queue_deliveries(context, tx, plan); });
  for (const DeliveryOutcome& outcome : outcomes) record_alone(context, lanes, outcome);
  if (!queued) return unexpected(queued.error());
  return count;
}

std::string sealed_text(const store::WebhookRow& row) {
  return row.sealed_secret + '\n' + row.old_secret.value_or("");
}

Result<Endpoint> endpoint_of(const Context& context, const store::WebhookRow& row, bool known) {
  Endpoint endpoint{.tenant = row.tenant,
                    .url = row.url,
                    .old_secret_until = row.old_secret_until.value_or(Timestamp()),
                    .quiet_until = row.quiet_until,
                    .sealed = sealed_text(row),
                    .failing = row.failures > 0};
  if (known) return endpoint;
  const std::string sealed_for = webhook_secret_context(row.id);
  COFFER_TRY(endpoint.secret, context.sealer.open(row.sealed_secret, sealed_for));
  if (row.old_secret) {
    COFFER_TRY(endpoint.old_secret, context.sealer.open(*row.old_secret, sealed_for));
  }
  return endpoint;
}

void note_due(DeliveryRound& round, std::optional<Timestamp> due) {
  if (due && (!round.next_due || *due < *round.next_due)) round.next_due = due;
}

/// Loads due deliveries of one endpoint, up to the space in its lane.
void load_lane(const Context& context, store::Connection& db, const store::WebhookRow& row,
               Timestamp now, DeliveryLanes& lanes, DeliveryRound& round) {
  note_due(round, store::next_delivery_due(db, row.key, now));
  const int room = lanes.room(row.key);
  if (room == 0) return;
  EventBodies bodies(context, db, row.tenant);
  const int limit = room + lanes.claimed(row.key);
  for (const auto& delivery : store::due_deliveries(db, row.tenant, row.key, now, limit)) {
    if (lanes.is_claimed(row.key, delivery.sequence)) continue;
    const auto event = store::event_at(db, row.tenant, delivery.sequence);
    if (!event) continue;
    try {
      store::require_intact(db, "webhooks", row.key, {{"disabled_at", std::nullopt}});
      lanes.add(delivery, bodies.body_of(*event));
    } catch (const store::ForeignChange& change) {  // it stays due, and is not signed
      store::log_once(change);
    }
  }
}

Result<void> load(const Context& context, DeliveryLanes& lanes, DeliveryRound& round) {
  const Timestamp now = context.queue.now();
  return context.read([&](store::Connection& db) -> Result<void> {
    std::set<std::int64_t> active;
    for (const store::WebhookRow& row : store::active_webhooks(db)) {
      auto endpoint = endpoint_of(context, row, lanes.knows(row.key, sealed_text(row)));
      if (!endpoint) {
        log_error("webhooks", "a webhook secret could not be unsealed",
                  {{"webhook", row.id.to_string()}});
        continue;
      }
      active.insert(row.key);
      lanes.set_endpoint(row.key, *std::move(endpoint));
      if (now < row.quiet_until) {
        note_due(round, row.quiet_until);
      } else {
        load_lane(context, db, row, now, lanes, round);
      }
    }
    lanes.keep_only(active);
    return {};
  });
}

}  // namespace

Result<DeliveryRound> run_delivery_round(const Context& context, DeliveryLanes& lanes) {
  COFFER_FAULT("deliver.before");
  COFFER_TRY(const QueuePlan plan, read_plan(context));
  COFFER_TRY(const int recorded, write(context, lanes, plan));
  COFFER_FAULT("deliver.after");
  DeliveryRound round;
  round.queued = static_cast<int>(plan.items.size());
  round.recorded = recorded;
  round.more = plan.more;
  COFFER_TRY_VOID(load(context, lanes, round));
  return round;
}

DeliveryLanes::Available available_deliveries(const Context& context, const DeliveryLanes& lanes) {
  return lanes.available(context.queue.now(), SystemClock().monotonic_ms());
}

std::optional<DeliveryJob> take_delivery(const Context& context, DeliveryLanes& lanes) {
  return lanes.take(context.queue.now(), SystemClock().monotonic_ms());
}

void send_delivery(const Context& context, DeliveryLanes& lanes, const DeliveryJob& job) {
  DeliveryOutcome outcome;
  outcome.delivery = job.delivery;
  outcome.tenant = job.tenant;
  outcome.url = job.message.url;
  outcome.at = context.queue.now();
  outcome.started_ms = job.started_ms;
  try {
    outcome.result = context.webhooks->sender.send(job.message);
    outcome.jitter = context.random.next_u64();
  } catch (...) {
    lanes.abandon(job.delivery, job.started_ms);
    throw;
  }
  COFFER_FAULT("deliver.sent");
  if (outcome.result.status == 0 && lanes.closed()) {
    if (!outcome.result.sent) return lanes.abandon(job.delivery, job.started_ms);
    outcome.result.fault = "The server stopped during the attempt.";
  }
  note_attempt(context, outcome.result);
  const NextStep next = decide_next_step(context, outcome, job.delivery.attempts + 1);
  const Timestamp quiet_until =
      next.disables ? Timestamp{kForeverMs} : outcome.at.plus_ms(next.quiet_ms);
  lanes.finish(std::move(outcome), quiet_until);
}

void cut_deliveries(const Context& context, DeliveryLanes& lanes) {
  lanes.close();
  context.webhooks->sender.cut();
}

void record_finished(const Context& context, DeliveryLanes& lanes) {
  static_cast<void>(write(context, lanes, {}));
}

Result<bool> prune_deliveries(const Context& context) {
  const DeliveryPolicy& policy = context.webhooks->policy;
  COFFER_TRY(const auto tenants,
             context.read([](store::Connection& db) { return store::tenants_with_webhooks(db); }));
  bool more = false;
  for (const Tenant& tenant : tenants) {
    COFFER_TRY_VOID(context.write([&](store::WriteTx& tx) {
      const Timestamp bodies_before = tx.now().plus_ms(-kDayMs * policy.body_days);
      const Timestamp rows_before = tx.now().plus_ms(-kDayMs * policy.log_days);
      const int bodies = store::drop_event_bodies(tx, tenant, bodies_before, kPruneBatch);
      const int rows = store::drop_deliveries(tx, tenant, rows_before, kPruneBatch);
      more = more || bodies == kPruneBatch || rows == kPruneBatch;
    }));
  }
  return more;
}

}  // namespace coffer::flows
