#include "flows/events.h"

#include <array>

#include "base/check.h"
#include "store/events.h"

namespace coffer::flows {
namespace {

constexpr std::array<Term, 8> kTypes{{
    {"payment.initiated", "Payment accepted"},
    {"payment.processing", "Payment being settled"},
    {"payment.succeeded", "Payment settled"},
    {"payment.failed", "Payment failed"},
    {"payment.refund_pending", "Refund under way"},
    {"payment.refunded", "Payment refunded"},
    {"payment.refund_failed", "Refund failed"},
    {"wallet.status_changed", "Wallet review state changed"},
}};

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

}  // namespace

std::span<const Term> event_type_terms() { return kTypes; }
std::string_view name(EventType type) { return kTypes[static_cast<std::size_t>(type)].code; }

void emit_payment_event(store::WriteTx& tx, Random& random, std::int64_t tenant,
                        std::int64_t payment, PaymentStatus status, int version) {
  store::append_event(tx, tenant,
                      {random.id<EventId>(tx.now()), static_cast<int>(event_for(status)), payment,
                       std::nullopt, version});
  tx.signal(store::Signal::webhooks);
}

void emit_wallet_event(store::WriteTx& tx, Random& random, std::int64_t tenant,
                       std::int64_t wallet) {
  store::append_event(tx, tenant,
                      {random.id<EventId>(tx.now()),
                       static_cast<int>(EventType::wallet_status_changed), std::nullopt, wallet, 1});
  tx.signal(store::Signal::webhooks);
}

}  // namespace coffer::flows
