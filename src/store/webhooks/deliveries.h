// Deliveries of events to endpoints, and the log of their attempts.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "domain/identity/tenant.h"
#include "domain/webhooks/event_type.h"
#include "domain/webhooks/webhook.h"
#include "store/commits/write_tx.h"
#include "store/rows/page.h"

namespace coffer::store {

/// An endpoint receives an event once, so the event ID is also the ID of the delivery.
struct DeliveryRow {
  std::int64_t webhook = 0;
  std::int64_t sequence = 0;
  EventId id;
  EventType type = EventType::payment_initiated;
  DeliveryState state = DeliveryState::pending;
  int attempts = 0;  // of the current series
  int tries = 0;     // of all series
  std::optional<Timestamp> due_at;
  Timestamp created_at;
  std::optional<Timestamp> closed_at;
};

struct DeliveryFilter {
  std::optional<DeliveryState> state;
  std::optional<EventType> type;
};

/// Newest event first, at most `limit` rows beyond `page.key` (a sequence).
RowPage<DeliveryRow> list_deliveries(Connection& db, const Tenant& tenant, std::int64_t webhook,
                                     const DeliveryFilter& filter, const PageAt& page);
std::optional<DeliveryRow> find_delivery(Connection& db, const Tenant& tenant, std::int64_t webhook,
                                         EventId id);
std::optional<DeliveryRow> find_delivery_at(Connection& db, const Tenant& tenant,
                                            std::int64_t webhook, std::int64_t sequence);
/// Pending deliveries due at or before `now`; those that have been due for longest come first.
std::vector<DeliveryRow> due_deliveries(Connection& db, const Tenant& tenant, std::int64_t webhook,
                                        Timestamp now, int limit);
/// Whether at least `count` deliveries are due to this endpoint.
bool are_due(Connection& db, std::int64_t webhook, Timestamp now, int count);
/// The earliest due time after `now` of the pending deliveries.
std::optional<Timestamp> next_delivery_due(Connection& db, std::int64_t webhook, Timestamp now);

/// Inserts a delivery that is due now; an oversize one is closed at once. Does nothing if the
/// endpoint already has the event.
void insert_delivery(WriteTx& tx, const Tenant& tenant, std::int64_t webhook, std::int64_t sequence,
                     DeliveryState state);
/// Starts a new series of attempts now.
void requeue_delivery(WriteTx& tx, std::int64_t webhook, std::int64_t sequence);
/// Starts a new series of attempts of all pending deliveries of the webhook now.
void restart_deliveries(WriteTx& tx, std::int64_t webhook);
/// Marks all pending deliveries of a disabled endpoint as dead.
void close_pending_deliveries(WriteTx& tx, std::int64_t webhook);
/// Marks a pending delivery as dead.
void give_up_delivery(WriteTx& tx, std::int64_t webhook, std::int64_t sequence);

struct DeliveryAttempt {
  int attempt = 0;
  Timestamp at;
  std::int64_t duration_ms = 0;
  std::optional<std::int64_t> status;
  std::optional<std::string> fault;
  std::string response;
  std::optional<Timestamp> signed_at = {};     // empty: nothing was sent, or not stored
  std::optional<std::string> signatures = {};  // webhook-signature, with signed_at
  std::string response_headers = {};           // lines
};

std::vector<DeliveryAttempt> list_delivery_attempts(Connection& db, std::int64_t webhook,
                                                    std::int64_t sequence);
/// Whether an attempt counts for the current series of its delivery.
enum class Series { current, previous };
/// Logs the attempt and updates the delivery. `due_at` is set only while it stays pending. Response
/// and signatures are not stored if the tenant has reached its quota of bytes.
void record_delivery_attempt(WriteTx& tx, const Tenant& tenant, const DeliveryRow& delivery,
                             const DeliveryAttempt& attempt, DeliveryState state,
                             std::optional<Timestamp> due_at, Series series = Series::current);
/// Deletes up to `limit` closed deliveries older than `before`, with their log; returns their
/// number.
int drop_deliveries(WriteTx& tx, const Tenant& tenant, Timestamp before, int limit);

}  // namespace coffer::store
