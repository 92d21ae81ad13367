#include "domain/events/event_type.h"

#include <algorithm>
#include <array>

#include "base/check.h"

namespace coffer {
namespace {

/// How a registration takes a type.
enum class Taken {
  with_all,  // by name, and by `*`
  by_name,
  never,  // it is sent to the one endpoint that it is about
};

struct Row {
  EventType type;
  Term term;
  Taken taken;
};

using enum EventType;
using enum Taken;
constexpr std::array<Row, 11> kTypes{{
    {payment_initiated, {"payment.initiated", "Payment accepted"}, with_all},
    {payment_processing, {"payment.processing", "Payment in settlement"}, with_all},
    {payment_succeeded, {"payment.succeeded", "Payment settled"}, with_all},
    {payment_failed, {"payment.failed", "Payment failed"}, with_all},
    {payment_refund_pending, {"payment.refund_pending", "Refund in progress"}, with_all},
    {payment_refunded, {"payment.refunded", "Payment refunded"}, with_all},
    {payment_refund_failed, {"payment.refund_failed", "Refund failed"}, with_all},
    {wallet_status_changed, {"wallet.status_changed", "Wallet review status changed"}, by_name},
    {reference_payment_received,
     {"onramp_reference.payment_received", "Customer payment arrived on a reference"},
     by_name},
    {webhook_disabled, {"webhook.disabled", "Webhook registration disabled"}, by_name},
    {webhook_test, {"webhook.test", "Test of a webhook"}, never},
}};

constexpr bool is_in_enum_order() {
  for (std::size_t i = 0; i < kTypes.size(); ++i) {
    if (kTypes[i].type != static_cast<EventType>(i)) return false;
  }
  return true;
}
static_assert(is_in_enum_order());

constexpr bool can_subscribe(const Row& row) { return row.taken != never; }

constexpr auto kTerms = [] {
  std::array<Term, std::count_if(kTypes.begin(), kTypes.end(), can_subscribe)> out{};
  std::size_t size = 0;
  for (const Row& row : kTypes) {
    if (can_subscribe(row)) out[size++] = row.term;
  }
  return out;
}();

}  // namespace

std::span<const Term> event_type_terms() { return kTerms; }

std::string_view name(EventType type) { return kTypes[static_cast<std::size_t>(type)].term.code; }

std::optional<EventType> parse_event_type(std::string_view text) {
  for (const Row& row : kTypes) {
    if (can_subscribe(row) && row.term.code == text) return row.type;
  }
  return std::nullopt;
}

EventType event_for(PaymentStatus status) {
  switch (status) {
    case PaymentStatus::initiated:
      return payment_initiated;
    case PaymentStatus::processing:
      return payment_processing;
    case PaymentStatus::succeeded:
      return payment_succeeded;
    case PaymentStatus::failed:
    case PaymentStatus::expired:  // has no type of its own; the record says which it is
      return payment_failed;
    case PaymentStatus::refund_pending:
      return payment_refund_pending;
    case PaymentStatus::refunded:
      return payment_refunded;
    case PaymentStatus::refund_failed:
      return payment_refund_failed;
  }
  throw InternalError("unknown payment status");
}

EventTypeSet EventTypeSet::payments() {
  EventTypeSet set;
  for (const Row& row : kTypes) {
    if (row.taken == with_all) set = set.with(row.type);
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
