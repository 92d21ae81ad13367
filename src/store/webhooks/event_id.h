// IDs of events, computed whenever a row is read instead of stored, because each payment has three.
//
// An ID is a UUID of version 7: the time of the event, then 74 bits of HMAC-SHA256 (RFC 2104) over
// `tenant|sequence|at` in decimal ASCII. HMAC under a random key is a pseudorandom function, so an
// ID shows neither the sequence nor the number of events, and cannot be guessed. A permutation
// would need a block cipher of 74 bits, which OpenSSL does not have; therefore an ID is found by
// its time.
#pragma once

#include "base/random.h"
#include "store/file/connection.h"

namespace coffer::store {

/// SQL for the ID of a row of `events` with this prefix, such as "e.".
#define COFFER_EVENT_ID(row)                                                           \
  "event_id((SELECT value FROM meta WHERE name = 'event_id_key'), " row "tenant, " row \
  "sequence, " row "at)"

/// Draws the key for the first event of a file. It never changes: consumers recognise a repeated
/// delivery by the ID.
/// Row of `meta` with the key.
inline constexpr std::string_view kEventIdKey = "event_id_key";
void keep_event_id_key(Connection& writer, Random& random);

}  // namespace coffer::store
