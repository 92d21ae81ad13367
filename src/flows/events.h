// The only way to write the outbox (docs/contract.md#events): in the command of the change itself,
// so that there is no event without its change and no change without its event.
#pragma once

#include <cstdint>
#include <optional>

#include "base/random.h"
#include "domain/events/event_type.h"
#include "store/outbox/events.h"
#include "store/write_tx.h"

namespace coffer::flows {

/// The event of a payment that has just reached `status` with `version`.
void emit_payment_event(store::WriteTx& tx, Random& random, std::int64_t tenant,
                        std::int64_t payment, PaymentStatus status, int version);
/// A customer's payment arrived on a reference; beside the payment's own events.
void emit_reference_event(store::WriteTx& tx, Random& random, std::int64_t tenant,
                          std::int64_t payment);
/// The wallet has just got the status that its row shows.
void emit_wallet_event(store::WriteTx& tx, Random& random, std::int64_t tenant,
                       std::int64_t wallet);
/// The registration has just been disabled.
void emit_webhook_event(store::WriteTx& tx, Random& random, std::int64_t tenant,
                        std::int64_t webhook);

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
