// The events coffer emits (decisions section 8) and the only way to write the outbox.
#pragma once

#include <cstdint>
#include <span>

#include "base/random.h"
#include "domain/payment.h"
#include "store/payments.h"
#include "store/write_tx.h"

namespace coffer::flows {

/// Stored as integers: append only.
enum class EventType {
  payment_initiated,
  payment_processing,
  payment_succeeded,
  payment_failed,
  payment_refund_pending,
  payment_refunded,
  payment_refund_failed,
  wallet_status_changed,
};

/// As on the wire, `payment.initiated`, with a label for people.
std::span<const Term> event_type_terms();
std::string_view name(EventType type);

/// The event of a payment that has just reached `status` with `version`. In the same command as the
/// change itself: no event without it, no change without its event.
void emit_payment_event(store::WriteTx& tx, Random& random, std::int64_t tenant,
                        std::int64_t payment, PaymentStatus status, int version);
void emit_wallet_event(store::WriteTx& tx, Random& random, std::int64_t tenant,
                       std::int64_t wallet);

}  // namespace coffer::flows
