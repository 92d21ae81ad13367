// Counters of flows for the operator: payments, deliveries, notifications, backups. Each function
// does nothing without Context::figures.
#pragma once

#include <array>
#include <cstddef>

#include "base/telemetry/metrics.h"
#include "domain/operations/message.h"
#include "domain/payments/payment.h"
#include "domain/webhooks/webhook.h"
#include "flows/context.h"
#include "outbound/webhooks/webhook_sender.h"

namespace coffer::flows {

/// The cells, created once, so that counting takes no lock.
class Figures {
 public:
  /// `metrics` must outlive this object.
  explicit Figures(Metrics& metrics);

 private:
  friend void count_payment(const Context&, store::WriteTx&, PaymentType, PaymentStatus);
  friend void note_settled(const Context&, Timestamp);
  friend void count_delivery(const Context&, store::WriteTx&, DeliveryState);
  friend void note_attempt(const Context&, const outbound::WebhookResponse&);
  friend void note_backup_failure(const Context&);
  friend void note_notification(const Context&, MessageChannel, bool);

  static constexpr std::size_t kTypes = 8;
  static constexpr std::size_t kStatuses = 8;
  static constexpr std::size_t kDeliveryStates = 4;
  std::array<std::array<Counter*, kStatuses>, kTypes> payments_{};
  std::array<Counter*, kDeliveryStates> deliveries_{};
  Histogram* settlement_delays_;
  Counter* attempts_delivered_;
  Counter* attempts_rejected_;
  Counter* attempts_without_response_;
  Histogram* attempt_times_;
  Counter* backup_failures_;
  Metrics& metrics_;
};

/// Call it in the command that creates a payment or moves it to this status.
void count_payment(const Context& context, store::WriteTx& tx, PaymentType type,
                   PaymentStatus status);
/// Records the time from `due`, when a payment became due for settlement, to now.
void note_settled(const Context& context, Timestamp due);
/// Call it in the command that ends a delivery.
void count_delivery(const Context& context, store::WriteTx& tx, DeliveryState state);
/// Counts one delivery attempt with its result.
void note_attempt(const Context& context, const outbound::WebhookResponse& response);
/// Counts a failed scheduled backup.
void note_backup_failure(const Context& context);
/// Counts one attempt to send a notification.
void note_notification(const Context& context, MessageChannel channel, bool sent);

}  // namespace coffer::flows
