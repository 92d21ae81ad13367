// Amounts that off-ramps have sent to each destination, stored as sums over ranges of payments.
// Checking a limit over any window up to now reads at most about 64 rows per level.
#pragma once

#include <cstdint>

#include "domain/ledger/money.h"
#include "domain/payments/payment.h"
#include "store/commits/write_tx.h"

/// counted_by_limits() (domain/payments/payment.h) of a row `p` of payments, for verification.
#define COFFER_COUNTED_BY_LIMITS                       \
  "CASE WHEN p.refunded_amount IS NOT NULL"            \
  " THEN max(p.sending_amount - p.refunded_amount, 0)" \
  " WHEN p.status IN (0, 1, 2) THEN p.sending_amount ELSE 0 END"

namespace coffer::store {

static_assert(stored(PaymentStatus::initiated) == 0);
static_assert(stored(PaymentStatus::processing) == 1);
static_assert(stored(PaymentStatus::succeeded) == 2);

/// One off-ramp, with the row keys of its connector and destination.
struct SentToDestination {
  std::int64_t connector = 0;
  std::int64_t destination = 0;
  Amount amount;  // without the fee
};

/// Counts a payment accepted at `tx.now()`.
void count_sent(WriteTx& tx, const SentToDestination& sent);
/// Adds to the sums for a payment accepted at `accepted_at`: a negative amount after it failed or
/// expired, and the positive one after an operator corrected that.
void recount_sent(WriteTx& tx, const SentToDestination& sent, Timestamp accepted_at);

/// The sum of the off-ramps of a connector accepted after `since` to a destination, without fees
/// and without failed or expired payments. Includes payments to earlier rows of the same
/// destination ID.
Amount sent_to_destination(Connection& db, std::int64_t connector, std::int64_t destination,
                           Timestamp since);

}  // namespace coffer::store
