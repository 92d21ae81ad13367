// Messages to beneficiaries that a submission asked for: rows from the settlement's commit until
// they are sent, given up, or there for the operator to see.
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
  std::string recipient;  // empty: no address was left when the payment arrived
  NotificationState state = NotificationState::waiting;
  int attempts = 0;  // opened so far
  Timestamp due_at;
  std::optional<Timestamp> closed_at;  // empty while waiting
};

/// Due now when waiting, else closed now.
void insert_notification(WriteTx& tx, std::int64_t payment, NotificationChannel channel,
                         std::string_view recipient, NotificationState state);
/// Waiting ones of all tenants, due at or before `now`, longest due first.
std::vector<NotificationRow> due_notifications(Connection& db, Timestamp now, int limit);
/// Of the waiting ones, the earliest.
std::optional<Timestamp> next_notification_due(Connection& db);
/// Counts an attempt and makes the row due again at `due_at`, in case nobody comes back to close
/// it. False when it is not waiting any more.
bool open_notification_attempt(WriteTx& tx, std::int64_t notification, Timestamp due_at);
/// Of a waiting one; a row that is closed stays as it is.
void close_notification(WriteTx& tx, std::int64_t notification, NotificationState state);
/// For the operator: no tenant is asked, so never on an integrator's route.
std::optional<NotificationRow> find_notification_by_key(Connection& db, std::int64_t notification);

}  // namespace coffer::store
