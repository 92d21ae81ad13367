#include "domain/events/event_type.h"

#include <array>

#include "base/check.h"

namespace coffer {
namespace {

constexpr std::array<Term, 11> kTypes{{
    {"payment.initiated", "Payment accepted"},
    {"payment.processing", "Payment being settled"},
    {"payment.succeeded", "Payment settled"},
    {"payment.failed", "Payment failed"},
    {"payment.refund_pending", "Refund under way"},
    {"payment.refunded", "Payment refunded"},
    {"payment.refund_failed", "Refund failed"},
    {"wallet.status_changed", "Wallet review state changed"},
    {"onramp_reference.payment_received", "Customer payment arrived on a reference"},
    {"webhook.disabled", "Webhook registration disabled"},
    {"webhook.test", "Test of an endpoint"},
}};
constexpr std::size_t kAskable = kTypes.size() - 1;

}  // namespace

std::span<const Term> event_type_terms() { return std::span(kTypes).first(kAskable); }

std::string_view name(EventType type) { return kTypes[static_cast<std::size_t>(type)].code; }

std::optional<EventType> parse_event_type(std::string_view text) {
  for (std::size_t i = 0; i < kAskable; ++i) {
    if (kTypes[i].code == text) return static_cast<EventType>(i);
  }
  return std::nullopt;
}

EventType event_for(PaymentStatus status) {
  switch (status) {
    case PaymentStatus::initiated:
      return EventType::payment_initiated;
    case PaymentStatus::processing:
      return EventType::payment_processing;
    case PaymentStatus::succeeded:
      return EventType::payment_succeeded;
    case PaymentStatus::failed:
    case PaymentStatus::expired:  // has no type of its own; the record says which it is
      return EventType::payment_failed;
    case PaymentStatus::refund_pending:
      return EventType::payment_refund_pending;
    case PaymentStatus::refunded:
      return EventType::payment_refunded;
    case PaymentStatus::refund_failed:
      return EventType::payment_refund_failed;
  }
  throw InternalError("unknown payment status");
}

EventTypeSet EventTypeSet::payments() {
  EventTypeSet set;
  for (int i = 0; i <= static_cast<int>(EventType::payment_refund_failed); ++i) {
    set = set.with(static_cast<EventType>(i));
  }
  return set;
}

std::vector<EventType> EventTypeSet::types() const {
  std::vector<EventType> out;
  for (std::size_t i = 0; i < kTypes.size(); ++i) {
    if (contains(static_cast<EventType>(i))) out.push_back(static_cast<EventType>(i));
  }
  return out;
}

}  // namespace coffer
