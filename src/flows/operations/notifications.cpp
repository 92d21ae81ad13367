#include "flows/operations/notifications.h"

#include "base/check.h"
#include "base/log.h"
#include "flows/operations/figures.h"
#include "outbound/operations/notifier.h"
#include "store/guarded_rows.h"
#include "store/ledger/wallets.h"
#include "store/parties/beneficiaries.h"
#include "store/webhooks/notifications.h"

namespace coffer::flows {
namespace {

using store::NotificationRow;

/// The address of a beneficiary, or the one in the details of the receiving wallet.
std::optional<std::string> address_of(const auto& receiver, NotificationChannel channel) {
  return channel == NotificationChannel::email ? email(receiver) : phone(receiver);
}

/// nullopt if there is no address.
std::optional<std::string> recipient_of(store::Connection& db, const store::PaymentKeys& keys,
                                        NotificationChannel channel) {
  if (keys.beneficiary) {
    const auto row = store::find_beneficiary_by_key(db, *keys.beneficiary);
    return row ? address_of(row->detail, channel) : std::nullopt;
  }
  const auto& wallet = keys.legs.front().destination_wallet;
  if (!wallet) return std::nullopt;
  store::require_intact(db, "wallet_metadata", *wallet);
  const auto row = store::find_wallet_by_key(db, *wallet);
  return row && row->metadata ? address_of(*row->metadata, channel) : std::nullopt;
}

bool is_served(const Context& context, NotificationChannel channel) {
  return context.notifier != nullptr && context.notifier->serves(channel);
}

/// The received amount, from the receiver's side.
NotificationTerms terms_of(const store::PaymentRecord& record, const NotificationRow& row) {
  const TransferLeg& leg = record.request.only();
  NotificationTerms terms;
  terms.association = row.association_name;
  terms.environment = row.environment;
  terms.reference = leg.refs.to_ref;
  terms.amount = record.receiving_amount.value_or(leg.amount);
  const store::Denomination sent{leg.sending_asset.value(), record.sending_decimals};
  const auto received = store::receiving_denomination(record);
  const auto& arrived = record.receiving_amount && received ? *received : sent;
  terms.currency = arrived.code;
  terms.decimals = arrived.decimals;
  return terms;
}

Result<void> close(const Context& context, const NotificationRow& row, NotificationState state) {
  return context.write([&](store::WriteTx& tx) { store::close_notification(tx, row.key, state); });
}

/// Counts the attempt; returns false if the row was closed in the meantime.
Result<bool> open(const Context& context, const NotificationRow& row) {
  bool opened = false;
  COFFER_TRY_VOID(context.write([&](store::WriteTx& tx) {
    const auto due_at = tx.now().plus_ms(notification_delay_ms(row.attempts + 1));
    opened = store::open_notification_attempt(tx, row.key, due_at);
  }));
  return opened;
}

Result<outbound::Notification> message_of(const Context& context, const NotificationRow& row) {
  return context.read([&](store::Connection& db) {
    store::require_intact(db, "notifications", row.key, {{"state", NotificationState::waiting}});
    store::require_intact_payment(db, row.payment);
    const auto record = store::find_payment_by_key(db, row.payment);
    COFFER_CHECK(record.has_value());
    return outbound::Notification{row.channel, row.recipient,
                                  notification_text(terms_of(*record, row)), row.payment_id};
  });
}

/// One attempt, from its start to its result.
Result<void> attempt(const Context& context, const NotificationRow& row) {
  // The channel was removed from the configuration, or the process ended during the last attempt.
  if (!is_served(context, row.channel)) return close(context, row, NotificationState::recorded);
  if (row.attempts >= kNotificationAttemptsMax) {
    return close(context, row, NotificationState::failed);
  }
  COFFER_TRY(const auto message, message_of(context, row));
  COFFER_TRY(const bool opened, open(context, row));
  if (!opened) return {};
  const auto sent = context.notifier->send(message);
  note_notification(context, row.channel, sent.has_value());
  const std::string payment = row.payment_id.to_string();
  const std::string recipient = masked_recipient(row.recipient);
  if (sent) {
    log_info("notifications", "notification sent",
             {{"payment", payment}, {"channel", name(row.channel)}, {"recipient", recipient}});
    return close(context, row, NotificationState::sent);
  }
  log_warning("notifications", "notification could not be sent",
              {{"payment", payment},
               {"channel", name(row.channel)},
               {"recipient", recipient},
               {"attempt", row.attempts + 1},
               {"problem", sent.error().detail}});
  // It is due again at the time set when it was opened.
  if (row.attempts + 1 < kNotificationAttemptsMax) return {};
  return close(context, row, NotificationState::failed);
}

}  // namespace

void record_notification(const Context& context, store::WriteTx& tx,
                         const store::SettlementView& payment) {
  if (!payment.notify) return;
  const NotificationChannel channel = *payment.notify;
  const auto recipient = recipient_of(tx.db(), payment.keys, channel);
  if (!recipient) {
    // The address existed at submission and was removed in the meantime.
    store::insert_notification(tx, payment.key, channel, "", NotificationState::failed);
    return;
  }
  if (!is_served(context, channel)) {
    store::insert_notification(tx, payment.key, channel, *recipient, NotificationState::recorded);
    return;
  }
  store::insert_notification(tx, payment.key, channel, *recipient, NotificationState::waiting);
  tx.signal(store::Signal::notifications);
}

Result<NotificationRound> send_due_notifications(const Context& context, int limit) {
  const Timestamp now = context.queue.now();
  COFFER_TRY(const auto rows, context.read([&](store::Connection& db) {
    return store::due_notifications(db, now, limit);
  }));
  NotificationRound round;
  for (const NotificationRow& row : rows) {
    try {
      COFFER_TRY_VOID(attempt(context, row));
    } catch (const store::ForeignChange& change) {  // delayed alone, and not sent
      store::log_once(change);
      COFFER_TRY_VOID(open(context, row));
    }
    ++round.attempts;
  }
  COFFER_TRY(round.next_due,
             context.read([](store::Connection& db) { return store::next_notification_due(db); }));
  return round;
}

}  // namespace coffer::flows
