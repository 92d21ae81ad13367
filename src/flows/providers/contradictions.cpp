#include "flows/providers/contradictions.h"

#include <algorithm>

#include "base/telemetry/log.h"
#include "flows/ledger/market_changes.h"
#include "flows/payments/payment_steps.h"
#include "flows/providers/provider_movements.h"
#include "store/ledger/journal.h"
#include "store/operations/payment_story.h"

namespace coffer::flows {

using outbound::CollectionResponse;
using outbound::CollectionState;
using outbound::PayoutResponse;
using outbound::PayoutState;
using outbound::ProviderRefund;
using store::ProviderView;

bool contradicts(const ProviderView& view, const PayoutResponse& response) {
  const bool paid = was_paid(view.payment);
  switch (response.state) {
    case PayoutState::never_arrived:
      return paid;
    case PayoutState::pending:
    case PayoutState::in_review:
      return true;
    case PayoutState::succeeded:
      return !paid;
    case PayoutState::failed:
      return paid || (view.payment.status == PaymentStatus::refund_failed &&
                      response.refund == ProviderRefund::returned);
  }
  throw InternalError("unknown payout state");
}

bool contradicts(const ProviderView& view, const CollectionResponse& response) {
  const bool credited = was_paid(view.payment);
  const bool unbooked = before_check(view.open_item) == OpenItem::unbooked;
  switch (response.state) {
    case CollectionState::never_arrived:
    case CollectionState::failed:
    case CollectionState::expired:
      return credited || unbooked;
    case CollectionState::pending:
      return true;
    case CollectionState::collected:
      if (!view.collected) return true;
      return response.collected && response.collected != view.collected;
  }
  throw InternalError("unknown collection state");
}

bool note_report(store::WriteTx& tx, std::int64_t payment, ProviderCall call,
                 const std::string& text) {
  const auto attempts = store::attempts_of_payment(tx.db(), payment);
  if (std::ranges::any_of(attempts, [&](const auto& each) { return each.outcome == text; })) {
    return false;
  }
  store::close_attempt(tx, payment, store::open_attempt(tx, payment, call), text);
  return true;
}

void leave_contradiction(store::WriteTx& tx, const ProviderView& view, ProviderCall call,
                         const std::string& report) {
  if (note_report(tx, view.payment.key, call, report)) end_check(tx, view, true);
}

void begin_check(store::WriteTx& tx, const ProviderView& view, std::int64_t lane, int asked) {
  store::set_open_item(tx, view.payment.key, checking(view.open_item));
  store::add_provider_job(tx, {lane, tx.now(), view.payment.key, asked});
  tx.signal(store::Signal::providers);
}

void end_check(store::WriteTx& tx, const ProviderView& view, bool contradicted) {
  // Without a check, a job is that of a refund.
  if (is_checking(view.open_item)) store::remove_provider_job(tx, view.payment.key);
  store::set_open_item(tx, view.payment.key,
                       contradicted ? OpenItem::contradicted : before_check(view.open_item));
  if (!contradicted) return;
  log_error("providers", "the provider contradicts the final status of a payment",
            {{"payment_key", view.payment.key}, {"connector_key", *view.payment.keys.connector}});
}

bool can_book(store::WriteTx& tx, const ProviderView& view) {
  const auto movements = provider_movements(tx, view);
  return is_covered(tx, movements) &&
         may_enter(tx, view.payment.environment, movements.front().posting);
}

void book(const Context& context, store::WriteTx& tx, ProviderView& view) {
  // The provider kept the money of a failed refund, so it is debited already.
  if (view.payment.status != PaymentStatus::refund_failed) {
    store::post(tx, view.payment, store::JournalKind::payment, provider_movements(tx, view));
  }
  advance(context, tx, view.payment,
          {PaymentStatus::succeeded, {}, view.payment.receiving_amount, {}});
  store::set_open_item(tx, view.payment.key, OpenItem::none);
}

}  // namespace coffer::flows
