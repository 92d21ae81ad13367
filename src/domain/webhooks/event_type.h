// Event types (docs/contract.md#events), and sets of them. Stored as integers: append only. A new
// type is an enumerator at the end, its row in event_type.cpp, and a flow that emits it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "domain/payments/payment.h"

namespace coffer {

enum class EventType {
  payment_initiated,
  payment_processing,
  payment_succeeded,
  payment_failed,
  payment_refund_pending,
  payment_refunded,
  payment_refund_failed,
  wallet_status_changed,
  reference_payment_received,
  webhook_disabled,
  webhook_test,  // sent to the tested endpoint only; webhooks cannot subscribe to it
  application_credentials_rotated,
};

/// How a webhook can subscribe to a type.
enum class Subscription {
  with_all,  // by name, and by `*`
  by_name,
  never,  // never; sent to the affected endpoint only
};

/// The content of an event's `data`.
enum class EventSubject { payment, wallet, webhook, application, nothing };

struct EventTypeRow {
  EventType type;
  Term term;
  Subscription subscription;
  EventSubject subject;
  std::optional<PaymentStatus> reached = {};  // by the payment of the event
};
/// In enum order.
std::span<const EventTypeRow> event_types();
const EventTypeRow& info(EventType type);

/// The types that a webhook can subscribe to, in enum order, with a label.
std::span<const Term> event_type_terms();
std::string_view name(EventType type);
/// Only types that a webhook can subscribe to.
std::optional<EventType> parse_event_type(std::string_view text);
/// The event of a payment that reached this status.
EventType event_for(PaymentStatus status);

/// The types of one webhook.
class EventTypeSet {
 public:
  constexpr EventTypeSet() = default;
  /// The stored form: one bit per type, in enum order.
  static constexpr EventTypeSet from_bits(std::int64_t bits) { return EventTypeSet(bits); }
  /// The meaning of `*`: the payment events. Other types must be listed by name.
  static EventTypeSet payments();

  constexpr std::int64_t bits() const { return bits_; }
  constexpr bool empty() const { return bits_ == 0; }
  constexpr bool contains(EventType type) const { return (bits_ & bit(type)) != 0; }
  constexpr EventTypeSet with(EventType type) const { return EventTypeSet(bits_ | bit(type)); }
  constexpr EventTypeSet with(EventTypeSet other) const {
    return EventTypeSet(bits_ | other.bits_);
  }
  /// In enum order.
  std::vector<EventType> types() const;
  constexpr bool operator==(const EventTypeSet&) const = default;

 private:
  constexpr explicit EventTypeSet(std::int64_t bits) : bits_(bits) {}
  static constexpr std::int64_t bit(EventType type) {
    return std::int64_t{1} << static_cast<int>(type);
  }
  std::int64_t bits_ = 0;
};

}  // namespace coffer
