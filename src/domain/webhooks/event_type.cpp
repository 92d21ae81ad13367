#include "domain/webhooks/event_type.h"

#include <algorithm>
#include <array>

#include "base/check.h"

namespace coffer {
namespace {

using Row = EventTypeRow;
using enum EventType;
using enum Subscription;

constexpr Row reached(PaymentStatus status, EventType type, Term term) {
  return {type, term, with_all, EventSubject::payment, status};
}

constexpr auto kTypes = std::to_array<Row>({
    reached(PaymentStatus::initiated, payment_initiated, {"payment.initiated", "Payment accepted"}),
    reached(PaymentStatus::processing, payment_processing,
            {"payment.processing", "Payment in settlement"}),
    reached(PaymentStatus::succeeded, payment_succeeded, {"payment.succeeded", "Payment settled"}),
    reached(PaymentStatus::failed, payment_failed, {"payment.failed", "Payment failed"}),
    reached(PaymentStatus::refund_pending, payment_refund_pending,
            {"payment.refund_pending", "Refund in progress"}),
    reached(PaymentStatus::refunded, payment_refunded, {"payment.refunded", "Payment refunded"}),
    reached(PaymentStatus::refund_failed, payment_refund_failed,
            {"payment.refund_failed", "Refund failed"}),
    {wallet_status_changed,
     {"wallet.status_changed", "Wallet review status changed"},
     by_name,
     EventSubject::wallet},
    {reference_payment_received,
     {"onramp_reference.payment_received", "Customer payment arrived on a reference"},
     by_name,
     EventSubject::payment},
    {webhook_disabled,
     {"webhook.disabled", "Webhook registration disabled"},
     by_name,
     EventSubject::webhook},
    {webhook_test, {"webhook.test", "Test of a webhook"}, never, EventSubject::nothing},
    {application_credentials_rotated,
     {"application.credentials_rotated", "Application got new credentials"},
     by_name,
     EventSubject::application},
});
static_assert(in_enum_order(kTypes, &Row::type));

constexpr bool can_subscribe(const Row& row) { return row.subscription != never; }

constexpr auto kTerms = [] {
  std::array<Term, std::ranges::count_if(kTypes, can_subscribe)> out{};
  std::size_t size = 0;
  for (const Row& row : kTypes) {
    if (can_subscribe(row)) out[size++] = row.term;
  }
  return out;
}();

}  // namespace

std::span<const EventTypeRow> event_types() { return kTypes; }

const EventTypeRow& info(EventType type) { return kTypes.at(static_cast<std::size_t>(type)); }

std::span<const Term> event_type_terms() { return kTerms; }

std::string_view name(EventType type) { return info(type).term.code; }

std::optional<EventType> parse_event_type(std::string_view text) {
  for (const Row& row : kTypes) {
    if (can_subscribe(row) && row.term.code == text) return row.type;
  }
  return std::nullopt;
}

EventType event_for(PaymentStatus status) {
  // There is no event type for expired payments; the record contains the status.
  if (status == PaymentStatus::expired) return payment_failed;
  const auto row = std::ranges::find(kTypes, status, &Row::reached);
  COFFER_CHECK(row != kTypes.end());
  return row->type;
}

EventTypeSet EventTypeSet::payments() {
  EventTypeSet set;
  for (const Row& row : kTypes) {
    if (row.subscription == with_all) set = set.with(row.type);
  }
  return set;
}

std::vector<EventType> EventTypeSet::types() const {
  std::vector<EventType> out;
  for (const Row& row : kTypes) {
    if (contains(row.type)) out.push_back(row.type);
  }
  return out;
}

}  // namespace coffer
