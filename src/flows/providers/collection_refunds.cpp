#include "flows/providers/collection_refunds.h"

#include <algorithm>

#include "base/check.h"
#include "domain/payments/refund.h"
#include "flows/ledger/market_changes.h"
#include "flows/payments/payment_steps.h"
#include "flows/providers/provider_movements.h"
#include "flows/providers/refunds.h"
#include "store/ledger/wallets.h"
#include "store/providers/connectors.h"

namespace coffer::flows {

using store::ProviderView;
using store::RefundRow;

Amount reversible(const store::PaymentRecord& record) {
  const Amount sent = *record.sending_amount;
  return is_collection(record.request.type)
             ? std::min(sent, record.provider->collected.value_or(sent))
             : sent;
}

Result<std::vector<store::Movement>> collection_movements(store::WriteTx& tx,
                                                          const store::PaymentRecord& record,
                                                          const store::SettlementView& payment,
                                                          Amount amount) {
  const std::int64_t wallet = *payment.keys.legs.front().destination_wallet;
  if (store::wallet_status(tx.db(), wallet) != WalletStatus::verified) {
    return unexpected(Slug::wallet_not_verified,
                      "The wallet of the payment must be verified to reverse it.");
  }
  const GivenBack before = given_back(tx.db(), payment);
  const Amount credited = *payment.receiving_amount, most = reversible(record);
  const Amount total = debit_for(credited, before.amount + amount, most,
                                 record.receiving_decimals.value_or(Amount::kScale));
  if (total == credited &&
      before.amount + amount != most) {  // nothing could be debited for the rest
    return unexpected(Problem(
        Slug::validation_failed,
        "What would be left to reverse is worth less than the smallest unit of the credited asset.",
        {{"amount", "must be less, or all that is left"}}));
  }
  const Amount debit = total - before.debited;
  if (!debit.is_positive()) {
    return unexpected(
        Problem(Slug::validation_failed,
                "The amount is worth less than the smallest unit of the credited asset.",
                {{"amount", "is too small to reverse"}}));
  }
  auto out = refund_movements(tx, store::provider_view(tx, payment.key));
  out.front().posting.amount = debit;
  return out;
}

void begin_refund(const Context& context, store::WriteTx& tx, ProviderView& view, RefundRow& row) {
  row.id = context.random.id<RefundId>(tx.now());
  store::insert_refund(tx, row);
  store::add_held(tx, {refund_movements(tx, view).front().posting.debit, *row.held});
  view.state = ProviderState::fresh;
  store::set_provider_state(tx, view.payment.key, view.state);
  const auto connector = store::find_connector_by_key(tx.db(), *view.payment.keys.connector);
  store::add_provider_job(tx, {connector->terms.lane(), tx.now(), view.payment.key, 0});
  advance(context, tx, view.payment, {PaymentStatus::refund_pending, {}, {}, {}});
  tx.signal(store::Signal::providers);
}

RefundRow refund_in_progress(store::WriteTx& tx, std::int64_t payment) {
  auto row = store::waiting_refund(tx.db(), payment);
  COFFER_CHECK(row.has_value());
  return *std::move(row);
}

bool is_current(store::WriteTx& tx, const store::SettlementView& payment,
                const std::optional<RefundRow>& refund) {
  if (!refund) return !is_refunding(payment);
  const auto waiting = store::waiting_refund(tx.db(), payment.key);
  return waiting && waiting->id == refund->id;
}

void end_refund(const Context& context, store::WriteTx& tx, ProviderView& view,
                std::optional<FailureCode> failure) {
  RefundRow row = refund_in_progress(tx, view.payment.key);
  auto movements = refund_movements(tx, view);
  movements.front().posting.amount = *row.held;
  store::add_held(tx, {movements.front().posting.debit, -*row.held});
  view.state = ProviderState::over;
  store::set_provider_state(tx, view.payment.key, view.state);
  store::remove_provider_job(tx, view.payment.key);
  if (failure) {
    row.state = RefundState::failed;
    row.failure = failure;
    row.failed_at = tx.now();
    store::change_refund(tx, row);
    return advance(context, tx, view.payment, {PaymentStatus::refund_failed, {}, {}, {}});
  }
  row.amount = *row.asked;
  book_refund(context, tx, view.payment, row, movements);
}

namespace {
/// The transaction ID of a row that books a refund which failed: it is booked once.
std::string booked_later(RefundId id) { return "refund:" + id.to_string(); }
}  // namespace

bool payer_has(const std::vector<RefundRow>& rows, RefundId id) {
  return std::ranges::any_of(rows, [&](const RefundRow& row) {
    return row.state == RefundState::booked &&
           (row.id == id || row.transaction_id == booked_later(id));
  });
}

Result<void> book_failed_refund(const Context& context, store::WriteTx& tx,
                                const store::PaymentRecord& record, ProviderView& view,
                                RefundId id) {
  const auto rows = store::refunds_of(tx.db(), record.key);
  const auto failed = std::ranges::find_if(
      rows, [&](const RefundRow& row) { return row.id == id && row.state == RefundState::failed; });
  if (failed == rows.end()) return unexpected(Slug::conflict, "No refund with this ID failed.");
  RefundRow row;
  row.payment = record.key;
  row.tenant = record.tenant;
  row.reason = failed->reason;
  row.transaction_id = booked_later(id);
  row.asked = failed->asked;
  if (payer_has(rows, id)) return unexpected(Slug::conflict, "This refund was booked before.");
  if (*row.asked > reversible(record) - given_back(tx.db(), view.payment).amount) {
    return unexpected(Slug::conflict,
                      "The payment has less than the amount of this refund left. Settle the "
                      "difference with the provider, then resolve the payment as unchanged.");
  }
  COFFER_TRY(const auto movements, collection_movements(tx, record, view.payment, *row.asked));
  if (!is_covered(tx, movements)) {
    return unexpected(Slug::conflict,
                      "The wallet does not have sufficient available funds. Resolve the payment "
                      "when it has.");
  }
  row.held = movements.front().posting.amount;
  begin_refund(context, tx, view, row);
  end_refund(context, tx, view, std::nullopt);
  return {};
}

}  // namespace coffer::flows
