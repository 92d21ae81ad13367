// The outbox: one compact row per event, written in the commit that causes the event.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/random.h"
#include "domain/identity/tenant.h"
#include "domain/ledger/wallet.h"
#include "domain/webhooks/event_type.h"
#include "store/commits/write_tx.h"
#include "store/rows/key_walk.h"

namespace coffer::store {

struct NewEvent {
  int type = 0;  // domain EventType
  std::optional<std::int64_t> payment;
  std::optional<std::int64_t> wallet;
  int version = 1;
  std::optional<std::int64_t> webhook;
  std::optional<std::int64_t> application;
  std::optional<WalletStatus> wallet_status;  // for a wallet event: the status after the change
  bool test = false;
};

/// Appends the event with the tenant's next sequence, and returns the sequence.
std::int64_t append_event(WriteTx& tx, Random& random, std::int64_t tenant, const NewEvent& event);

struct EventRow {
  std::int64_t sequence = 0;
  EventId id;
  EventType type = EventType::payment_initiated;
  std::optional<std::int64_t> payment;
  std::optional<std::int64_t> wallet;
  std::optional<std::int64_t> webhook;
  std::optional<std::int64_t> application;
  std::optional<WalletStatus> wallet_status;
  int version = 1;
  bool test = false;
  Timestamp at;
};

/// Up to `limit` events after a sequence, oldest first.
std::vector<EventRow> events_after(Connection& db, const Tenant& tenant, std::int64_t sequence,
                                   int limit);
struct EventFilter {
  std::optional<EventType> type;
  std::int64_t after = 0;  // only events with a higher sequence
};
/// GET /v1/events: oldest first; `backward` is towards older events.
RowPage<EventRow> list_events(Connection& db, const Tenant& tenant, const EventFilter& filter,
                              const PageAt& page);
/// Sequences of the events of a type that has an index; nullopt for a type that occurs with every
/// payment.
std::optional<KeySource> events_of_rare_type(const KeyWalk& walk, const Tenant& tenant,
                                             EventType type);
/// Searches by the time in the ID, because IDs are computed (store/webhooks/event_id.h) and a
/// tenant's times never decrease with the sequence.
std::optional<EventRow> find_event(Connection& db, const Tenant& tenant, EventId id);
/// For operators: an event of any tenant.
std::optional<EventRow> find_event(Connection& db, EventId id);
std::optional<EventRow> event_at(Connection& db, const Tenant& tenant, std::int64_t sequence);
/// 0 if there are no events.
std::int64_t last_sequence(Connection& db, const Tenant& tenant);
/// The sequence of the first event at or after `at`, or one beyond the last. Times never decrease
/// from one sequence to the next, so a binary search needs few reads.
std::int64_t first_sequence_since(Connection& db, const Tenant& tenant, Timestamp at);

/// Call this before rendering an event to sign it. Throws ForeignChange (store/rows/guarded_rows.h)
/// if another program inserted or changed it, or the payment that it is about.
void require_intact_event(Connection& db, const Tenant& tenant, const EventRow& event);
/// The rendered body of an event, until it is deleted. Throws ForeignChange if another program
/// changed it.
std::optional<std::string> find_event_body(Connection& db, const Tenant& tenant,
                                           std::int64_t sequence);
/// Checks the digests of at most `limit` stored bodies after this key. `fault`: a sentence about
/// the first one that another program changed.
struct EventBodyPiece {
  std::int64_t rows = 0;
  std::int64_t last = 0;
  std::string fault = {};
};
EventBodyPiece check_event_bodies(Connection& db, std::int64_t after, std::int64_t limit);
/// Checks all stored bodies, and all events that are not about a payment. Returns a sentence about
/// the first one that another program inserted or changed, or an empty text.
std::string verify_events(Connection& db);
bool has_event_body(Connection& db, const Tenant& tenant, std::int64_t sequence);
/// Stores the first body of an event; later ones are ignored.
void keep_event_body(WriteTx& tx, const Tenant& tenant, std::int64_t sequence,
                     std::string_view body);
/// Deletes up to `limit` bodies of events before `before`, oldest first; returns their number.
int drop_event_bodies(WriteTx& tx, const Tenant& tenant, Timestamp before, int limit);

}  // namespace coffer::store
