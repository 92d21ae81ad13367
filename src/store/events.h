// The outbox: one compact row per thing that happened, written in the commit that made it happen.
#pragma once

#include <cstdint>
#include <optional>

#include "domain/ids.h"
#include "store/write_tx.h"

namespace coffer::store {

struct NewEvent {
  EventId id;
  int type = 0;  // domain EventType
  std::optional<std::int64_t> payment;
  std::optional<std::int64_t> wallet;
  int version = 1;
};

/// Appends with the tenant's next sequence.
void append_event(WriteTx& tx, std::int64_t tenant, const NewEvent& event);

}  // namespace coffer::store
