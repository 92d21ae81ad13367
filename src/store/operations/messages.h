// The queue of messages: about alerts to the operator, and to recipients of payments.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "domain/identity/tenant.h"
#include "domain/ids.h"
#include "domain/operations/alert.h"
#include "domain/operations/message.h"
#include "store/commits/write_tx.h"

namespace coffer::store {

/// About an alert or a payment: one of both keys is set.
struct Message {
  std::int64_t key = 0;
  std::optional<std::int64_t> alert;
  std::optional<std::int64_t> payment;
  Uuid id;                            // of a message about an alert
  AlertKind kind = AlertKind::began;  // of a message about an alert
  MessageChannel channel = MessageChannel::email;
  std::string recipient;   // empty if the recipient of a payment no longer had an address
  std::int64_t count = 0;  // of a message about an alert
  std::optional<Timestamp> oldest_at;
  Timestamp at;
  MessageState state = MessageState::waiting;
  int attempts = 0;  // attempts so far
  Timestamp due_at;
  std::optional<Timestamp> closed_at;  // empty while waiting
  std::optional<std::string> result;   // of the last attempt
};

/// Inserts a message about the newest alert of the condition, due now. Skips a repetition while the
/// target still waits for an earlier message about this alert.
void insert_alert_message(WriteTx& tx, const Uuid& id, AlertKind kind, MessageChannel channel,
                          std::string_view target, const Finding& finding);
/// Due now if waiting, otherwise closed now.
void insert_notification(WriteTx& tx, std::int64_t payment, MessageChannel channel,
                         std::string_view recipient, MessageState state);

/// The waiting message that has been due for longest; those about alerts come first. Messages about
/// one alert are sent to a channel in order.
std::optional<Message> due_message(Connection& db, Timestamp now);
/// The earliest due time of the waiting notifications.
std::optional<Timestamp> next_notification_due(Connection& db);
/// Counts an attempt and sets the next due time, in case the attempt is never closed. Returns false
/// if the message is no longer waiting.
bool open_message_attempt(WriteTx& tx, std::int64_t message, Timestamp due_at);
/// Records the result of an attempt; a closed row is not changed. After a successful attempt, all
/// other messages about alerts that wait for this channel are due now, because the target responds
/// again.
void close_message_attempt(WriteTx& tx, const Message& message, MessageState state,
                           std::string_view result);

/// Oldest first.
std::vector<Message> messages_of_alert(Connection& db, std::int64_t alert);

/// A message to the recipient of a payment, with what its text and the operator need.
struct Notification {
  Message message;
  PaymentId payment_id;
  AssociationId association;
  std::string association_name;
  Environment environment = Environment::sandbox;
};
/// For the operator. Does not check the tenant, so never call it for an integrator's route.
std::optional<Notification> find_notification(Connection& db, std::int64_t message);

}  // namespace coffer::store
