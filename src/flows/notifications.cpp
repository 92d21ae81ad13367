#include "flows/notifications.h"

#include "base/check.h"
#include "base/log.h"
#include "outbound/notifier.h"
#include "store/beneficiaries.h"
#include "store/outbox/notifications.h"
#include "store/payments.h"
#include "store/wallets.h"

namespace coffer::flows {
namespace {

using store::NotificationRow;

struct Contacts {
  std::optional<std::string> email;
  std::optional<std::string> phone;
};

Contacts contacts_of(store::Connection& db, const store::NotificationWish& wish) {
  if (wish.beneficiary) {
    const auto row = store::find_beneficiary_by_key(db, *wish.beneficiary);
    return row ? Contacts{email(row->detail), phone(row->detail)} : Contacts{};
  }
  if (!wish.destination_wallet) return {};
  const auto row = store::find_wallet_by_key(db, *wish.destination_wallet);
  if (!row || !row->metadata) return {};
  if (const auto* person = std::get_if<PersonMetadata>(&*row->metadata)) {
    return {person->email, person->phone};
  }
  return {std::get<BusinessMetadata>(*row->metadata).contact_email, std::nullopt};
}

bool is_served(const Context& context, NotificationChannel channel) {
  return context.notifier != nullptr && context.notifier->serves(channel);
}

/// What arrived, on the side of the receiver.
NotificationTerms terms_of(const store::PaymentRecord& record, const NotificationRow& row) {
  const TransferLeg& leg = record.request.only();
  NotificationTerms terms;
  terms.association = row.association_name;
  terms.environment = row.environment;
  terms.reference = leg.refs.to_ref;
  terms.amount = record.receiving_amount.value_or(leg.amount);
  if (record.receiving_amount && record.request.receiving_asset) {
    terms.currency = record.request.receiving_asset->value();
    terms.decimals = record.receiving_decimals.value_or(Amount::kScale);
  } else if (record.receiving_amount && record.provider) {
    terms.currency = record.provider->currency;
    terms.decimals = record.provider->currency_decimals;
  } else {
    terms.currency = leg.sending_asset.value();
    terms.decimals = record.sending_decimals;
  }
  return terms;
}

Result<void> close(const Context& context, const NotificationRow& row, NotificationState state) {
  return context.queue.run([&](store::WriteTx& tx) -> Result<void> {
    store::close_notification(tx, row.key, state);
    return {};
  });
}

/// Counts the attempt; false when somebody else has closed the row.
Result<bool> open(const Context& context, const NotificationRow& row) {
  bool opened = false;
  COFFER_TRY_VOID(context.queue.run([&](store::WriteTx& tx) -> Result<void> {
    const auto due_at = tx.now().plus_ms(notification_delay_ms(row.attempts + 1));
    opened = store::open_notification_attempt(tx, row.key, due_at);
    return {};
  }));
  return opened;
}

Result<outbound::Notification> message_of(const Context& context, const NotificationRow& row) {
  return store::with_reader(
      context.database, [&](store::Connection& db) -> Result<outbound::Notification> {
        const auto record = store::find_payment_by_key(db, row.payment);
        COFFER_CHECK(record.has_value());
        return outbound::Notification{row.channel, row.recipient,
                                      notification_text(terms_of(*record, row)), row.payment_id};
      });
}

/// One attempt, from its opening to what came of it.
Result<void> attempt(const Context& context, const NotificationRow& row) {
  // Its channel was taken out of the configuration, or its last attempt ended with the process.
  if (!is_served(context, row.channel)) return close(context, row, NotificationState::recorded);
  if (row.attempts >= kNotificationAttemptsMax) {
    return close(context, row, NotificationState::failed);
  }
  COFFER_TRY(const auto message, message_of(context, row));
  COFFER_TRY(const bool opened, open(context, row));
  if (!opened) return {};
  const auto sent = context.notifier->send(message);
  const std::string payment = row.payment_id.to_string();
  const std::string recipient = masked_recipient(row.recipient);
  if (sent) {
    log_info("notifications", "notification sent",
             {{"payment", payment}, {"channel", name(row.channel)}, {"recipient", recipient}});
    return close(context, row, NotificationState::sent);
  }
  log_warning("notifications", "notification not sent",
              {{"payment", payment},
               {"channel", name(row.channel)},
               {"recipient", recipient},
               {"attempt", row.attempts + 1},
               {"problem", sent.error().detail}});
  if (row.attempts + 1 < kNotificationAttemptsMax) return {};  // due again as it was opened
  return close(context, row, NotificationState::failed);
}

}  // namespace

void record_notification(const Context& context, store::WriteTx& tx, std::int64_t payment) {
  const auto wish = store::notification_wish(tx.db(), payment);
  if (!wish) return;
  const Contacts contacts = contacts_of(tx.db(), *wish);
  const auto& recipient =
      wish->channel == NotificationChannel::email ? contacts.email : contacts.phone;
  if (!recipient) {
    // There was one when the payment was submitted; it was taken out meanwhile.
    store::insert_notification(tx, payment, wish->channel, "", NotificationState::failed);
    return;
  }
  if (!is_served(context, wish->channel)) {
    store::insert_notification(tx, payment, wish->channel, *recipient,
                               NotificationState::recorded);
    return;
  }
  store::insert_notification(tx, payment, wish->channel, *recipient, NotificationState::waiting);
  tx.signal(store::Signal::notifications);
}

Result<NotificationRound> send_due_notifications(const Context& context, int limit) {
  const Timestamp now = context.queue.now();
  COFFER_TRY(const auto rows,
             store::with_reader(context.database,
                                [&](store::Connection& db) -> Result<std::vector<NotificationRow>> {
                                  return store::due_notifications(db, now, limit);
                                }));
  NotificationRound round;
  for (const NotificationRow& row : rows) {
    COFFER_TRY_VOID(attempt(context, row));
    ++round.attempts;
  }
  COFFER_TRY(round.next_due,
             store::with_reader(context.database,
                                [](store::Connection& db) -> Result<std::optional<Timestamp>> {
                                  return store::next_notification_due(db);
                                }));
  return round;
}

}  // namespace coffer::flows
