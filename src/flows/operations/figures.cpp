#include "flows/operations/figures.h"

#include <algorithm>

namespace coffer::flows {
namespace {

constexpr std::int64_t kUsPerMs = 1'000;

template <class Enum>
std::size_t index(Enum value) {
  return static_cast<std::size_t>(value);
}

Counter* attempts(Metrics& metrics, std::string_view outcome) {
  return &metrics.counter("coffer_webhook_attempts_total",
                          "Attempts to deliver an event to an endpoint, by result.",
                          {{"outcome", outcome}});
}

}  // namespace

Figures::Figures(Metrics& metrics) : metrics_(metrics) {
  for (std::size_t type = 0; type < kTypes; ++type) {
    for (std::size_t status = 0; status < kStatuses; ++status) {
      payments_[type][status] =
          &metrics.counter("coffer_payments_total", "Payments that reached a status.",
                           {{"type", name(static_cast<PaymentType>(type))},
                            {"status", name(static_cast<PaymentStatus>(status))}});
    }
  }
  for (const auto state :
       {DeliveryState::delivered, DeliveryState::dead, DeliveryState::oversize}) {
    deliveries_[index(state)] = &metrics.counter(
        "coffer_webhook_deliveries_total",
        "Completed deliveries of events to endpoints, by final state.", {{"state", name(state)}});
  }
  settlement_delays_ = &metrics.histogram(
      "coffer_settlement_delay_seconds",
      "Time from when a payment became due for settlement until it was settled, in seconds.",
      kLatencyBuckets);
  attempts_delivered_ = attempts(metrics, "delivered");
  attempts_rejected_ = attempts(metrics, "rejected");
  attempts_without_response_ = attempts(metrics, "no_response");
  attempt_times_ =
      &metrics.histogram("coffer_webhook_attempt_duration_seconds",
                         "Duration of attempts to deliver an event, in seconds.", kLatencyBuckets);
  backup_failures_ = &metrics.counter("coffer_backup_failures_total", "Failed scheduled backups.");
}

void count_payment(const Context& context, store::WriteTx& tx, PaymentType type,
                   PaymentStatus status) {
  if (context.figures == nullptr) return;
  tx.count(*context.figures->payments_.at(index(type)).at(index(status)));
}

void note_settled(const Context& context, Timestamp due) {
  if (context.figures == nullptr) return;
  const std::int64_t late_ms = std::max<std::int64_t>(0, context.queue.now().ms - due.ms);
  context.figures->settlement_delays_->observe(late_ms * kUsPerMs);
}

void count_delivery(const Context& context, store::WriteTx& tx, DeliveryState state) {
  if (context.figures == nullptr || state == DeliveryState::pending) return;
  tx.count(*context.figures->deliveries_.at(index(state)));
}

void note_attempt(const Context& context, const outbound::WebhookResponse& response) {
  if (context.figures == nullptr) return;
  const Figures& figures = *context.figures;
  const bool delivered = response.status >= 200 && response.status < 300;
  (delivered              ? figures.attempts_delivered_
   : response.status != 0 ? figures.attempts_rejected_
                          : figures.attempts_without_response_)
      ->add();
  figures.attempt_times_->observe(response.duration_ms * kUsPerMs);
}

void note_backup_failure(const Context& context) {
  if (context.figures != nullptr) context.figures->backup_failures_->add();
}

void note_notification(const Context& context, MessageChannel channel, bool sent) {
  if (context.figures == nullptr) return;
  context.figures->metrics_
      .counter("coffer_notification_attempts_total",
               "Attempts to send a message to the recipient of a payment, by result.",
               {{"channel", name(channel)}, {"outcome", sent ? "sent" : "failed"}})
      .add();
}

}  // namespace coffer::flows
