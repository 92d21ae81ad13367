// The body of an event (docs/contract.md#events), for deliveries and for GET /v1/events.
#pragma once

#include <optional>
#include <string>

#include "domain/identity/tenant.h"
#include "flows/context.h"
#include "store/payments/payments.h"
#include "store/webhooks/events.h"

namespace coffer::flows {

/// Renders events of one tenant from one consistent state of the store.
class EventBodies {
 public:
  /// All arguments must outlive this object.
  EventBodies(const Context& context, store::Connection& db, const Tenant& tenant)
      : context_(context), db_(db), tenant_(tenant) {}

  /// The stored bytes of the event, or newly rendered ones if none are stored. `data` is the record
  /// as of the event's version, without later changes.
  std::string body_of(const store::EventRow& event);
  /// Renders the event without reading stored bytes. As body_of(), throws ForeignChange
  /// (store/rows/guarded_rows.h) if another program inserted or changed the event or its payment.
  std::string render(const store::EventRow& event);

 private:
  const store::PaymentRecord& record(std::int64_t payment);

  const Context& context_;
  store::Connection& db_;
  const Tenant& tenant_;
  bool key_is_intact_ = false;  // of event IDs
  // The last one, because events of a payment are often adjacent.
  std::optional<store::PaymentRecord> record_;
};

}  // namespace coffer::flows
