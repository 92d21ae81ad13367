// The only functions that write events (docs/contract.md#events). They run in the command of the
// change itself, so a change and its event are committed together.
#pragma once

#include <cstdint>
#include <optional>

#include "base/random.h"
#include "domain/webhooks/event_type.h"
#include "store/commits/write_tx.h"
#include "store/webhooks/events.h"

namespace coffer::flows {

/// The event of a payment that reached `status` with `version`.
void emit_payment_event(store::WriteTx& tx, Random& random, std::int64_t tenant,
                        std::int64_t payment, PaymentStatus status, int version);
/// Any other event of a type with a row in domain/webhooks/event_type.cpp, about the payment,
/// wallet, webhook or application with this row key, in its state after the command.
void emit_event(store::WriteTx& tx, Random& random, std::int64_t tenant, EventType type,
                std::int64_t key);

struct TestEvent {
  EventId id;
  EventType type = EventType::webhook_test;
  std::int64_t sequence = 0;
};
/// A sample event. With `webhook`, it is for this endpoint only (`webhook.test`); otherwise for the
/// webhook subscribed to the type.
TestEvent emit_test_event(store::WriteTx& tx, Random& random, std::int64_t tenant, EventType type,
                          std::optional<std::int64_t> webhook);

}  // namespace coffer::flows
