// Amounts that off-ramps have sent to each destination, stored as sums over ranges of payments.
// Checking a limit over any window up to now reads at most about 64 rows per level.
#pragma once

#include <cstdint>

#include "domain/ledger/money.h"
#include "store/commits/write_tx.h"

namespace coffer::store {

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
