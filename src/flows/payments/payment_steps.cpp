#include "flows/payments/payment_steps.h"

#include "base/check.h"
#include "base/telemetry/log.h"
#include "flows/events.h"
#include "flows/ledger/market_changes.h"
#include "flows/operations/figures.h"
#include "flows/operations/notifications.h"
#include "store/ledger/journal.h"
#include "store/ledger/wallets.h"
#include "store/payments/open_payments.h"
#include "store/providers/provider_payments.h"

namespace coffer::flows {

namespace {

void tell(const Context& context, store::WriteTx& tx, const store::SettlementView& payment) {
  emit_payment_event(tx, context.random, payment.tenant, payment.key, payment.status,
                     payment.version);
  count_payment(context, tx, payment.type, payment.status);
}

}  // namespace

void advance(const Context& context, store::WriteTx& tx, store::SettlementView& payment,
             const store::StatusChange& change) {
  store::change_status(tx, payment, change);
  tell(context, tx, payment);
  if (payment.status == PaymentStatus::succeeded) record_notification(context, tx, payment);
}

void pass_processing(const Context& context, store::WriteTx& tx, store::SettlementView& payment) {
  store::pass_processing(payment);
  tell(context, tx, payment);
}

void succeed(const Context& context, store::WriteTx& tx, store::SettlementView& payment,
             std::span<const store::Movement> movements, store::StatusChange change) {
  store::close_holds(tx, payment, HoldState::posted);
  store::post(tx, payment, store::JournalKind::payment, movements);
  change.to = PaymentStatus::succeeded;
  advance(context, tx, payment, change);
}

void fail(const Context& context, store::WriteTx& tx, store::SettlementView& payment,
          FailureCode code) {
  store::close_holds(tx, payment, HoldState::voided);
  advance(context, tx, payment, {PaymentStatus::failed, code, std::nullopt, std::nullopt});
}

Posting collection_posting(store::WriteTx& tx, const store::SettlementView& payment) {
  const std::int64_t asset = *payment.receiving_asset;
  return {store::operator_account(tx, payment.environment, AccountKind::clearing, asset,
                                  *payment.keys.connector),
          trustline(tx, *payment.keys.legs.front().destination_wallet, asset),
          *payment.receiving_amount};
}

bool credit_collection(const Context& context, store::WriteTx& tx, store::SettlementView& payment) {
  const std::int64_t wallet = *payment.keys.legs.front().destination_wallet;
  if (store::wallet_status(tx.db(), wallet) != WalletStatus::verified) return false;
  const store::Movement movement{collection_posting(tx, payment), 0};
  if (!may_enter(tx, payment.environment, movement.posting)) {
    log_error("payments",
              "a collected amount cannot be credited: it exceeds the limit of the ledger",
              {{"payment_key", payment.key}, {"connector_key", *payment.keys.connector}});
    advance(context, tx, payment,
            {PaymentStatus::failed, FailureCode::ledger_limit_exceeded, {}, {}});
    store::set_open_item(tx, payment.key, OpenItem::unbooked);
    return true;
  }
  store::post(tx, payment, store::JournalKind::payment, {&movement, 1});
  advance(context, tx, payment, {PaymentStatus::succeeded, {}, payment.receiving_amount, {}});
  return true;
}

AccountKey trustline(store::WriteTx& tx, std::int64_t wallet, std::int64_t asset) {
  const auto account = tx.known().trustline(wallet, asset);
  COFFER_CHECK(account.has_value());
  return *account;
}

}  // namespace coffer::flows
