#include "flows/operations/notifications.h"

#include "base/check.h"
#include "domain/operations/message.h"
#include "store/ledger/wallets.h"
#include "store/parties/beneficiaries.h"
#include "store/rows/guarded_rows.h"

namespace coffer::flows {
namespace {

/// The address of a beneficiary, or the one in the details of the receiving wallet.
std::optional<std::string> address_of(const auto& receiver, MessageChannel channel) {
  return channel == MessageChannel::email ? email(receiver) : phone(receiver);
}

/// nullopt if there is no address.
std::optional<std::string> recipient_of(store::Connection& db, const store::PaymentKeys& keys,
                                        MessageChannel channel) {
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

/// The received amount, from the receiver's side.
NotificationTerms terms_of(const store::PaymentRecord& record, const store::Notification& row) {
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

}  // namespace

void record_notification(const Context& context, store::WriteTx& tx,
                         const store::SettlementView& payment) {
  if (!payment.notify) return;
  const MessageChannel channel = *payment.notify;
  const auto recipient = recipient_of(tx.db(), payment.keys, channel);
  if (!recipient) {
    // The address existed at submission and was removed in the meantime.
    store::insert_notification(tx, payment.key, channel, "", MessageState::failed);
    return;
  }
  if (context.messenger == nullptr || !context.messenger->serves(channel)) {
    store::insert_notification(tx, payment.key, channel, *recipient, MessageState::recorded);
    return;
  }
  store::insert_notification(tx, payment.key, channel, *recipient, MessageState::waiting);
  tx.signal(store::Signal::notifications);
}

outbound::OutgoingMessage notification_message(store::Connection& db,
                                               const store::Notification& notification) {
  const store::Message& message = notification.message;
  store::require_intact_payment(db, *message.payment);
  const auto record = store::find_payment_by_key(db, *message.payment);
  COFFER_CHECK(record.has_value());
  return {message.channel, message.recipient, notification.payment_id.to_string(),
          "Payment received", notification_text(terms_of(*record, notification))};
}

}  // namespace coffer::flows
