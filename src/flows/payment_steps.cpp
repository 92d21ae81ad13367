#include "flows/payment_steps.h"

#include "base/check.h"
#include "flows/events.h"
#include "flows/notifications.h"

namespace coffer::flows {

void advance(const Context& context, store::WriteTx& tx, store::SettlementView& payment,
             const store::StatusChange& change) {
  store::change_status(tx, payment, change);
  emit_payment_event(tx, context.random, payment.tenant, payment.key, payment.status,
                     payment.version);
  if (payment.status == PaymentStatus::succeeded) record_notification(context, tx, payment.key);
}

void succeed(const Context& context, store::WriteTx& tx, store::SettlementView& payment,
             std::span<const store::Movement> movements, store::StatusChange change) {
  store::close_holds(tx, payment.key, HoldState::posted);
  store::post(tx, payment.tenant, store::JournalKind::payment, payment.key, movements);
  change.to = PaymentStatus::succeeded;
  advance(context, tx, payment, change);
}

void fail(const Context& context, store::WriteTx& tx, store::SettlementView& payment,
          FailureCode code) {
  store::close_holds(tx, payment.key, HoldState::voided);
  advance(context, tx, payment, {PaymentStatus::failed, code, std::nullopt, std::nullopt});
}

AccountKey trustline(store::WriteTx& tx, std::int64_t wallet, std::int64_t asset) {
  const auto account = store::find_trustline(tx.db(), wallet, asset);
  COFFER_CHECK(account.has_value());
  return *account;
}

}  // namespace coffer::flows
