// Notifications to beneficiaries that submissions requested: rows from the commit of the settlement
// until they are sent, failed, or shown to the operator.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "domain/identity/tenant.h"
#include "domain/ids.h"
#include "domain/operations/notification.h"
#include "store/write_tx.h"

namespace coffer::store {

struct NotificationRow {
  std::int64_t key = 0;
  std::int64_t payment = 0;
  PaymentId payment_id;
  AssociationId association;
  std::string association_name;
  Environment environment = Environment::sandbox;
  NotificationChannel channel = NotificationChannel::email;
  std::string recipient;  // empty if the beneficiary no longer had an address
  NotificationState state = NotificationState::waiting;
  int attempts = 0;  // attempts so far
  Timestamp due_at;
  std::optional<Timestamp> closed_at;  // empty while waiting
};

/// Due now if waiting, otherwise closed now.
void insert_notification(WriteTx& tx, std::int64_t payment, NotificationChannel channel,
                         std::string_view recipient, NotificationState state);
/// Waiting notifications of all tenants due at or before `now`; those that have been due for
/// longest come first.
std::vector<NotificationRow> due_notifications(Connection& db, Timestamp now, int limit);
/// The earliest due time of the waiting notifications.
std::optional<Timestamp> next_notification_due(Connection& db);
/// Counts an attempt and sets the next due time, in case the attempt is never closed. Returns false
/// if the notification is no longer waiting.
bool open_notification_attempt(WriteTx& tx, std::int64_t notification, Timestamp due_at);
/// Closes a waiting notification; a closed row is not changed.
void close_notification(WriteTx& tx, std::int64_t notification, NotificationState state);
/// For the operator. Does not check the tenant, so never call it for an integrator's route.
std::optional<NotificationRow> find_notification_by_key(Connection& db, std::int64_t notification);

}  // namespace coffer::store
