// The outbox: one compact row per thing that happened, written in the commit that made it happen.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "domain/identity/tenant.h"
#include "domain/ledger/wallet.h"
#include "domain/webhooks/event_type.h"
#include "store/lists/key_walk.h"
#include "store/write_tx.h"

namespace coffer::store {

struct NewEvent {
  EventId id;
  int type = 0;  // domain EventType
  std::optional<std::int64_t> payment;
  std::optional<std::int64_t> wallet;
  int version = 1;
  std::optional<std::int64_t> webhook;
  std::optional<WalletStatus> wallet_status;  // of a wallet's event: after the change
  bool test = false;
};

/// Appends with the tenant's next sequence, which it returns.
std::int64_t append_event(WriteTx& tx, std::int64_t tenant, const NewEvent& event);

struct EventRow {
  std::int64_t sequence = 0;
  EventId id;
  EventType type = EventType::payment_initiated;
  std::optional<std::int64_t> payment;
  std::optional<std::int64_t> wallet;
  std::optional<std::int64_t> webhook;
  std::optional<WalletStatus> wallet_status;
  int version = 1;
  bool test = false;
  Timestamp at;
};

/// Up to `limit` events after a sequence, oldest first.
std::vector<EventRow> events_after(Connection& db, const Tenant& tenant, std::int64_t sequence,
                                   int limit);
/// GET /v1/events: oldest first, beyond `page.key`; `backward` is towards older ones.
RowPage<EventRow> list_events(Connection& db, const Tenant& tenant,
                              const std::optional<EventType>& type, const PageAt& page);
/// Sequences of the events of a type that has an index; nullptr for one that is part of every
/// payment.
std::unique_ptr<KeySet> events_of_rare_type(const KeyWalk& walk, const Tenant& tenant,
                                            EventType type);
/// Along the time in its id: an event has the time of its id (new_event in flows/webhooks), and the
/// times of a tenant rise with the sequence. An index of the ids would cost every payment three
/// entries.
std::optional<EventRow> find_event(Connection& db, const Tenant& tenant, EventId id);
/// For the operator: of any tenant.
std::optional<EventRow> find_event(Connection& db, EventId id);
std::optional<EventRow> event_at(Connection& db, const Tenant& tenant, std::int64_t sequence);
/// 0: nothing has happened yet.
std::int64_t last_sequence(Connection& db, const Tenant& tenant);
/// Of the first event at or after `at`; one beyond the last when all are older. Times never go back
/// from one sequence to the next, so a few probes find it in any number of events.
std::int64_t first_sequence_since(Connection& db, const Tenant& tenant, Timestamp at);

/// The bytes that were made for an event, as long as they are kept.
std::optional<std::string> find_event_body(Connection& db, const Tenant& tenant,
                                           std::int64_t sequence);
/// Keeps the first that is given for an event: later ones are dropped.
void keep_event_body(WriteTx& tx, const Tenant& tenant, std::int64_t sequence,
                     std::string_view body);
/// Drops up to `limit` bodies of events before `before`, oldest first; how many.
int drop_event_bodies(WriteTx& tx, const Tenant& tenant, Timestamp before, int limit);

}  // namespace coffer::store
