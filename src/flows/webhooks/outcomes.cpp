#include "flows/webhooks/outcomes.h"

#include <algorithm>
#include <map>

#include "base/telemetry/log.h"
#include "flows/operations/figures.h"
#include "flows/webhooks/webhook_changes.h"
#include "flows/webhooks/webhooks.h"

namespace coffer::flows {
namespace {

store::DeliveryAttempt attempt_of(const DeliveryOutcome& outcome) {
  store::DeliveryAttempt row;
  row.at = outcome.at;
  row.duration_ms = outcome.result.duration_ms;
  if (outcome.result.status != 0) row.status = outcome.result.status;
  if (!outcome.result.fault.empty()) row.fault = outcome.result.fault;
  row.response = outcome.result.response;
  row.response_headers = outcome.result.response_headers;
  if (outcome.result.sent) {
    row.signed_at = outcome.result.signed_at;
    row.signatures = outcome.result.signatures;
  }
  return row;
}

/// The endpoints of a batch, each read once.
class Endpoints {
 public:
  explicit Endpoints(store::WriteTx& tx) : tx_(tx) {}

  store::WebhookRow* find(std::int64_t webhook) {
    const auto it = rows_.find(webhook);
    if (it != rows_.end()) return &it->second;
    auto row = store::find_webhook_by_key(tx_.db(), webhook);
    return row ? &rows_.emplace(webhook, *std::move(row)).first->second : nullptr;
  }

  void note(store::WebhookRow& row, const DeliveryOutcome& outcome, const NextStep& next) {
    row.failures = next.state == DeliveryState::delivered ? 0 : row.failures + 1;
    row.last_attempt_at = outcome.at;
    row.last_status.reset();
    if (outcome.result.status != 0) row.last_status = outcome.result.status;
    if (next.quiet_ms > 0) {
      row.quiet_until = std::max(row.quiet_until, tx_.now().plus_ms(next.quiet_ms));
    }
  }

  void write() {
    for (const auto& [key, row] : rows_) {
      if (!row.last_attempt_at) continue;
      store::set_webhook_health(
          tx_, key, {row.failures, *row.last_attempt_at, row.last_status, row.quiet_until});
    }
  }

 private:
  store::WriteTx& tx_;
  std::map<std::int64_t, store::WebhookRow> rows_;
};

void disable(const Context& context, store::WriteTx& tx, store::WebhookRow& webhook) {
  log_warning("webhooks", "the endpoint responded 410; webhook disabled",
              {{"webhook", webhook.id.to_string()}});
  disable_in(tx, context.random, webhook, DisableReason::endpoint_gone);
  webhook.disabled_at = tx.now();
}

void record_one(const Context& context, store::WriteTx& tx, const DeliveryOutcome& outcome,
                Endpoints& endpoints) {
  const auto delivery = store::find_delivery_at(tx.db(), outcome.tenant, outcome.delivery.webhook,
                                                outcome.delivery.sequence);
  store::WebhookRow* webhook = endpoints.find(outcome.delivery.webhook);
  if (!delivery || webhook == nullptr) return;  // deleted from the log in the meantime
  const NextStep next = decide_next_step(context, outcome, delivery->attempts + 1);
  const bool is_present = outcome.url == webhook->url;
  if (is_present) endpoints.note(*webhook, outcome, next);
  DeliveryState state = next.state;
  // A previous address does not decide whether the present one gets the event.
  if (!is_present && state == DeliveryState::dead) state = DeliveryState::pending;
  // If the endpoint was disabled during the attempt, a failed delivery is not retried.
  const bool over = delivery->state != DeliveryState::pending || !webhook->is_active();
  if (over && state == DeliveryState::pending) state = DeliveryState::dead;
  if (delivery->state == DeliveryState::delivered) state = DeliveryState::delivered;
  std::optional<Timestamp> due_at;
  // A new address does not wait because of the previous one.
  if (state == DeliveryState::pending) {
    due_at = tx.now().plus_ms(is_present ? next.delay_ms : 0);
  }
  if (delivery->state == DeliveryState::pending) count_delivery(context, tx, state);
  store::record_delivery_attempt(tx, outcome.tenant, *delivery, attempt_of(outcome), state, due_at,
                                 is_present ? store::Series::current : store::Series::previous);
  if (next.disables && is_present && webhook->is_active()) disable(context, tx, *webhook);
}

}  // namespace

NextStep decide_next_step(const Context& context, const DeliveryOutcome& outcome, int attempt) {
  return next_step_after({outcome.result.status, outcome.result.retry_after_ms}, attempt,
                         outcome.tenant.environment, context.webhooks->policy, outcome.jitter);
}

void record_outcomes(const Context& context, store::WriteTx& tx,
                     std::span<const DeliveryOutcome> outcomes) {
  Endpoints endpoints(tx);
  for (const DeliveryOutcome& outcome : outcomes) record_one(context, tx, outcome, endpoints);
  endpoints.write();
}

}  // namespace coffer::flows
