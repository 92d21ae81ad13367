// The body of an event (docs/contract.md#events): what is delivered, and what GET /v1/events shows.
#pragma once

#include <optional>
#include <string>

#include "domain/identity/tenant.h"
#include "flows/context.h"
#include "store/payments/payments.h"
#include "store/webhooks/events.h"

namespace coffer::flows {

/// Makes bodies of one tenant's events from one consistent state of the store.
class EventBodies {
 public:
  /// Everything referred to outlives this.
  EventBodies(const Context& context, store::Connection& db, const Tenant& tenant)
      : context_(context), db_(db), tenant_(tenant) {}

  /// The bytes that were kept for the event; made anew when there are none. `data` is the record as
  /// of the event's version: an event never shows what came later.
  std::string body_of(const store::EventRow& event);
  /// Made anew, without looking for kept bytes.
  std::string render(const store::EventRow& event);

 private:
  const store::PaymentRecord& record(std::int64_t payment);

  const Context& context_;
  store::Connection& db_;
  const Tenant& tenant_;
  std::optional<store::PaymentRecord> record_;  // the last one: a payment's events are neighbours
};

}  // namespace coffer::flows
