#include "store/events.h"

namespace coffer::store {
namespace {

constexpr const char* kInsert =
    "INSERT INTO events (tenant, sequence, id, type, payment, wallet, version, at)"
    " VALUES (?, ?, ?, ?, ?, ?, ?, ?)";

}  // namespace

void append_event(WriteTx& tx, std::int64_t tenant, const NewEvent& event) {
  Query(tx.db(), kInsert, tenant, tx.next_sequence(tenant), event.id, event.type, event.payment,
        event.wallet, event.version, tx.now())
      .run();
}

}  // namespace coffer::store
