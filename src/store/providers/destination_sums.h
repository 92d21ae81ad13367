// What off-ramps have sent to each destination, kept as sums over runs of payments: a limit over
// any window up to now reads at most about 64 rows per level, however many payments there are.
#pragma once

#include <cstdint>

#include "domain/ledger/money.h"
#include "store/write_tx.h"

namespace coffer::store {

/// One off-ramp, by the keys of its connector and of the destination's row it is made for.
struct SentToDestination {
  std::int64_t connector = 0;
  std::int64_t destination = 0;
  Amount amount;  // without the fee
};

/// A payment that is accepted at `tx.now()` counts from now on.
void count_sent(WriteTx& tx, const SentToDestination& sent);
/// A payment that was accepted at `accepted_at` failed or expired, and counts no more.
void uncount_sent(WriteTx& tx, const SentToDestination& sent, Timestamp accepted_at);

/// What off-ramps of a connector that were accepted after `since` have sent to a destination,
/// without fees and without those that failed or expired; also what went to earlier rows of the
/// same destination id.
Amount sent_to_destination(Connection& db, std::int64_t connector, std::int64_t destination,
                           Timestamp since);

}  // namespace coffer::store
