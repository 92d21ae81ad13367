#include "flows/operations/messages.h"

#include <algorithm>
#include <exception>

#include "base/check.h"
#include "base/telemetry/log.h"
#include "domain/operations/message.h"
#include "flows/identity/login.h"
#include "flows/operations/alerts.h"
#include "flows/operations/figures.h"
#include "flows/operations/notifications.h"
#include "store/rows/guarded_rows.h"

namespace coffer::flows {
namespace {

using store::Message;

/// Whether the configuration still has the channel, and the target of an alert.
bool is_served(const Context& context, const Message& message) {
  if (context.messenger == nullptr || !context.messenger->serves(message.channel)) return false;
  if (!message.alert) return true;
  return std::ranges::any_of(
      context.messenger->targets(), [&](const outbound::AlertTarget& target) {
        return target.channel == message.channel && target.name == message.recipient;
      });
}

/// Counts the attempt; returns false if the row was closed in the meantime.
Result<bool> open(const Context& context, const Message& message) {
  return context.write([&](store::WriteTx& tx) {
    const auto due_at = tx.now().plus_ms(message_delay_ms(message.attempts + 1));
    return store::open_message_attempt(tx, message.key, due_at);
  });
}

Result<void> close(const Context& context, const Message& message, MessageState state,
                   std::string_view result) {
  return context.write(
      [&](store::WriteTx& tx) { store::close_message_attempt(tx, message, state, result); });
}

Result<outbound::OutgoingMessage> content_of(const Context& context, const Message& message) {
  return context.read([&](store::Connection& db) {
    store::require_intact(db, "messages", message.key, {{"state", MessageState::waiting}});
    if (message.alert) {
      const store::AlertRow alert = store::alert_of(db, *message.alert);
      return alert_message(message, alert, alert_reason(db, alert.state.condition),
                           public_base_url(context));
    }
    const auto notification = store::find_notification(db, message.key);
    COFFER_CHECK(notification.has_value());
    return notification_message(db, *notification);
  });
}

void note_result(const Context& context, const Message& message,
                 const outbound::OutgoingMessage& content, const outbound::SendResult& result) {
  const std::string attempt = std::to_string(message.attempts + 1);
  if (message.alert) {
    if (result.sent) return;
    return log_warning("alerts", "alert could not be sent",
                       {{"message", content.id},
                        {"subject", content.subject},
                        {"channel", name(message.channel)},
                        {"attempt", attempt},
                        {"problem", result.detail}});
  }
  note_notification(context, message.channel, result.sent);
  const std::string recipient = masked_recipient(message.recipient);
  if (result.sent) {
    return log_info(
        "notifications", "notification sent",
        {{"payment", content.id}, {"channel", name(message.channel)}, {"recipient", recipient}});
  }
  log_warning("notifications", "notification could not be sent",
              {{"payment", content.id},
               {"channel", name(message.channel)},
               {"recipient", recipient},
               {"attempt", attempt},
               {"problem", result.detail}});
}

/// One attempt, from its start to its result.
Result<void> attempt(const Context& context, const Message& message) {
  if (!is_served(context, message)) {
    return close(context, message, MessageState::recorded, "The target is no longer configured.");
  }
  if (message.attempts >= kMessageAttemptsMax) {
    return close(context, message, MessageState::failed,
                 "The process ended during the last attempt.");
  }
  COFFER_TRY(const auto content, content_of(context, message));
  COFFER_TRY(const bool opened, open(context, message));
  if (!opened) return {};
  const auto result = context.messenger->send(content);
  note_result(context, message, content, result);
  const bool last = message.attempts + 1 >= kMessageAttemptsMax;
  return close(context, message,
               result.sent ? MessageState::sent
               : last      ? MessageState::failed
                           : MessageState::waiting,
               result.detail);
}

}  // namespace

Result<bool> send_due_message(const Context& context) {
  COFFER_TRY(const auto due, context.read([&](store::Connection& db) {
    return store::due_message(db, context.queue.now());
  }));
  if (!due) return false;
  try {
    COFFER_TRY_VOID(attempt(context, *due));
    return true;
  } catch (const store::ForeignChange& change) {
    store::log_once(change);
  } catch (const std::exception& error) {
    log_error("messages", "a message cannot be read; it will be retried",
              {{"message_key", due->key}, {"error", error.what()}});
  }
  COFFER_TRY_VOID(open(context, *due));  // the others do not wait for it
  return true;
}

}  // namespace coffer::flows
