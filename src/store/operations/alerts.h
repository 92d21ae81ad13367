// Alerts to the operator, and the messages about them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "domain/operations/alert.h"
#include "store/operations/newest.h"
#include "store/write_tx.h"

namespace coffer::store {

struct AlertRow {
  std::int64_t key = 0;
  Uuid id;
  std::int64_t count = 0;  // at the last message
  Timestamp began_at;
  AlertState state;
};

struct AlertMessage {
  std::int64_t key = 0;
  Uuid id;
  AlertRow alert;
  AlertKind kind = AlertKind::began;
  AlertChannel channel = AlertChannel::webhook;
  std::string target;
  std::int64_t count = 0;
  std::optional<Timestamp> oldest_at;
  Timestamp at;
  AlertMessageState state = AlertMessageState::waiting;
  int attempts = 0;
  Timestamp due_at;
  std::optional<Timestamp> closed_at;  // empty while waiting
  std::optional<std::string> result;   // of the last attempt
};

// Alerts ------------------------------------------------------------------------------------------

/// The newest alert of each condition.
std::vector<AlertState> newest_alert_states(Connection& db);
/// `watch` inserts a row with this ID. Other steps change the row that is not closed. Creates no
/// messages.
void apply_alert_change(WriteTx& tx, const AlertChange& change, const Uuid& id);
/// Deletes closed alerts with their messages.
void drop_alerts(WriteTx& tx, Timestamp closed_before);
std::int64_t count_open_alerts(Connection& db);

/// Alerts that have opened. `open`: only those that are open, or only those that have ended.
NewestPage<AlertRow> newest_alerts(Connection& db, std::optional<bool> open, const NewestAt& at);

// Messages ----------------------------------------------------------------------------------------

/// Inserts a message about the newest alert of the condition, due now. Skips a repetition while the
/// target still waits for an earlier message about this alert.
void insert_alert_message(WriteTx& tx, const Uuid& id, AlertKind kind, AlertChannel channel,
                          std::string_view target, const Finding& finding);
/// The waiting message that has been due for longest. Messages about one alert are sent to a
/// channel in order.
std::optional<AlertMessage> due_alert_message(Connection& db, Timestamp now);
/// Oldest first.
std::vector<AlertMessage> messages_of(Connection& db, std::int64_t alert);
/// Counts an attempt and sets the next due time, in case the attempt is never closed. Returns false
/// if the message is no longer waiting.
bool open_alert_attempt(WriteTx& tx, std::int64_t message, Timestamp due_at);
/// Records the result of an attempt. After a successful attempt, all other messages that wait for
/// this channel are due now, because the target responds again.
void close_alert_attempt(WriteTx& tx, const AlertMessage& message, AlertMessageState state,
                         std::string_view result);

}  // namespace coffer::store
