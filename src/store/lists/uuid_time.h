// The time in a UUID version 7 (RFC 9562, section 5.7).
#pragma once

#include "base/clock.h"
#include "base/uuid.h"

namespace coffer::store {

/// The time in the first 48 bits of `id`, in milliseconds. Meaningless for other versions.
inline Timestamp time_of(const Uuid& id) {
  Timestamp out;
  for (std::size_t i = 0; i < 6; ++i) out.ms = out.ms << 8 | id.bytes[i];
  return out;
}

}  // namespace coffer::store
