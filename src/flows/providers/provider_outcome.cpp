#include "flows/providers/provider_outcome.h"

#include <algorithm>
#include <vector>

#include "base/telemetry/log.h"
#include "domain/providers/quote.h"
#include "flows/ledger/market_changes.h"
#include "flows/payments/payment_steps.h"
#include "flows/providers/collection_refunds.h"
#include "flows/providers/provider_movements.h"
#include "flows/providers/refunds.h"
#include "store/ledger/journal.h"
#include "store/payments/payments.h"
#include "store/payments/quotes.h"
#include "store/providers/connectors.h"
#include "store/replication/leader.h"

namespace coffer::flows {
namespace {

using outbound::CollectionResponse;
using outbound::CollectionState;
using outbound::PayoutResponse;
using outbound::PayoutState;
using outbound::ProviderRefund;
using store::ProviderView;

bool is_over(const ProviderView& view) {
  return view.state == ProviderState::over ||
         (is_settled(view.payment.status) && view.payment.status != PaymentStatus::refund_pending);
}

void finish(const Context& context, store::WriteTx& tx, ProviderView& view) {
  view.state = ProviderState::over;
  store::set_provider_state(tx, view.payment.key, view.state);
  store::remove_provider_job(tx, view.payment.key);
  settle_returns(context, tx, view);
}

void ask_again(store::WriteTx& tx, const ProviderView& view, int asked) {
  Timestamp due = tx.now().plus_ms(poll_delay_ms(view.payment.environment, asked));
  if (view.expires_at && tx.now() < *view.expires_at) due = std::min(due, *view.expires_at);
  store::reschedule_provider_job(tx, view.payment.key, due, asked + 1);
}

void note_reference(store::WriteTx& tx, const ProviderView& view, const std::string& reference) {
  if (!reference.empty()) store::set_provider_reference(tx, view.payment.key, reference);
}

/// Until when a machine that led before may call this connector. It checks its lease before a call.
Timestamp others_call_until(const Context& context, store::WriteTx& tx, const ProviderView& view) {
  if (!context.leads_since) return {};
  const auto connector = store::find_connector_by_key(tx.db(), *view.payment.keys.connector);
  const auto& endpoint = connector->terms.endpoint;
  return context.leads_since->plus_ms(store::kLeaseMs + (endpoint ? endpoint->timeout_ms : 0));
}

/// The submission never arrived, so it can be repeated or abandoned immediately, unless another
/// machine has opened it and may send it now: then the provider is queried again later.
void send_again(const Context& context, store::WriteTx& tx, ProviderView& view, int asked) {
  if (const Timestamp until = others_call_until(context, tx, view); tx.now() < until) {
    return store::reschedule_provider_job(tx, view.payment.key, until, asked);
  }
  view.state = ProviderState::fresh;
  store::set_provider_state(tx, view.payment.key, view.state);
  store::reschedule_provider_job(tx, view.payment.key, tx.now(), asked);
}

void log_contradiction(const ProviderView& view, const char* what) {
  log_error("providers", what,
            {{"payment_key", view.payment.key}, {"connector_key", *view.payment.keys.connector}});
}

/// From here on, the provider has the money, and only a refund returns it.
void debit(store::WriteTx& tx, ProviderView& view) {
  if (view.state == ProviderState::accepted) return;
  store::close_holds(tx, view.payment, HoldState::posted);
  store::post(tx, view.payment, store::JournalKind::payment, provider_movements(tx, view));
  view.state = ProviderState::accepted;
  store::set_provider_state(tx, view.payment.key, view.state);
}

void refuse_refund(const Context& context, store::WriteTx& tx, ProviderView& view,
                   std::optional<FailureCode> why = std::nullopt) {
  advance(context, tx, view.payment, {PaymentStatus::refund_failed, {}, {}, {}, why});
  finish(context, tx, view);
}

void payout_failed(const Context& context, store::WriteTx& tx, ProviderView& view, int asked,
                   const PayoutResponse& response) {
  const FailureCode code = response.failure.value_or(FailureCode::provider_error);
  if (view.payment.status != PaymentStatus::refund_pending) {
    const bool taken = response.refund != ProviderRefund::returned;
    if (view.state != ProviderState::accepted && !taken) {
      fail(context, tx, view.payment, code);
      return finish(context, tx, view);
    }
    // The provider accepted and failed the payout before coffer learned of either, but it has the
    // money.
    debit(tx, view);
    advance(context, tx, view.payment, {PaymentStatus::failed, code, {}, {}});
    advance(context, tx, view.payment, {PaymentStatus::refund_pending, {}, {}, {}});
  }
  switch (response.refund) {
    case ProviderRefund::returned:
      return give_back(context, tx, view);
    case ProviderRefund::refused:
      return refuse_refund(context, tx, view);
    case ProviderRefund::pending:
      return ask_again(tx, view, asked);
  }
}

/// Ends a collection without a credit. What was collected is left to an operator.
void end_uncredited(const Context& context, store::WriteTx& tx, ProviderView& view,
                    const store::StatusChange& change) {
  advance(context, tx, view.payment, change);
  if (view.collected) store::set_open_item(tx, view.payment.key, OpenItem::unbooked);
  finish(context, tx, view);
}

/// The amount to credit for the collected amount, at the rate and fee of the payment's quote.
Amount receives(store::WriteTx& tx, const ProviderView& view) {
  const store::PaymentKeys& keys = view.payment.keys;
  const auto connector = store::find_connector_by_key(tx.db(), *keys.connector);
  return received_of(store::find_quote_by_key(tx.db(), *keys.quote)->price, *view.collected,
                     connector->terms.receive_decimals());
}

/// If the provider reports no amount, the requested amount was paid.
void collected(const Context& context, store::WriteTx& tx, ProviderView& view, int asked,
               const CollectionResponse& response) {
  const Amount quoted = view.payment.amounts.front();
  store::set_collected(tx, view, response.collected.value_or(view.collected.value_or(quoted)));
  const Amount credit = receives(tx, view);
  if (!credit.is_positive()) {
    return end_uncredited(context, tx, view,
                          {PaymentStatus::failed, FailureCode::underpaid, {}, {}});
  }
  view.payment.receiving_amount = credit;
  if (credit_collection(context, tx, view.payment)) return finish(context, tx, view);
  store::reschedule_provider_job(tx, view.payment.key, tx.now().plus_ms(kReviewPollMs), asked);
}

}  // namespace

bool can_give_back(store::WriteTx& tx, const ProviderView& view) {
  const auto movements = refund_movements(tx, view);
  if (view.payment.type != PaymentType::offramp && !is_covered(tx, movements)) return false;
  return std::ranges::all_of(movements, [&](const store::Movement& movement) {
    return may_enter(tx, view.payment.environment, movement.posting);
  });
}

void give_back(const Context& context, store::WriteTx& tx, ProviderView& view) {
  if (!can_give_back(tx, view)) {
    log_error("providers", "a refund cannot be credited: it exceeds the limit of the ledger",
              {{"payment_key", view.payment.key}});
    return refuse_refund(context, tx, view, FailureCode::ledger_limit_exceeded);
  }
  const std::vector<store::Movement> movements = refund_movements(tx, view);
  store::post(tx, view.payment, store::JournalKind::refund, movements);
  advance(context, tx, view.payment, {PaymentStatus::refunded, {}, {}, {}});
  finish(context, tx, view);
}

void apply_response(const Context& context, store::WriteTx& tx, ProviderView& view, int asked,
                    const PayoutResponse& response) {
  if (is_over(view)) return;
  const bool gives_back = is_refunding(view.payment);  // a response about a refund
  if (!gives_back) note_reference(tx, view, response.provider_reference);
  const bool refunding = view.payment.status == PaymentStatus::refund_pending;
  switch (response.state) {
    case PayoutState::never_arrived:
      if (view.state != ProviderState::accepted) return send_again(context, tx, view, asked);
      log_contradiction(view, "the provider does not know a payout or refund that it accepted");
      return ask_again(tx, view, asked);
    case PayoutState::pending:
    case PayoutState::in_review:
      if (gives_back) {
        view.state = ProviderState::accepted;
        store::set_provider_state(tx, view.payment.key, view.state);
      } else if (!refunding) {
        debit(tx, view);
        store::set_in_review(tx, view.payment.key, response.state == PayoutState::in_review);
      }
      return ask_again(tx, view, asked);
    case PayoutState::succeeded:
      if (gives_back) return end_refund(context, tx, view, std::nullopt);
      if (refunding) {
        log_contradiction(view,
                          "the provider reports that a failed payout was paid; it is not refunded");
        refuse_refund(context, tx, view);
        return store::set_open_item(tx, view.payment.key, OpenItem::contradicted);
      }
      debit(tx, view);
      advance(context, tx, view.payment, {PaymentStatus::succeeded, {}, {}, {}});
      return finish(context, tx, view);
    case PayoutState::failed:
      if (gives_back) {
        return end_refund(context, tx, view,
                          response.failure.value_or(FailureCode::provider_error));
      }
      return payout_failed(context, tx, view, asked, response);
  }
}

void apply_response(const Context& context, store::WriteTx& tx, ProviderView& view, int asked,
                    const CollectionResponse& response) {
  if (is_over(view)) return;
  note_reference(tx, view, response.provider_reference);
  switch (response.state) {
    case CollectionState::never_arrived:
      if (view.state != ProviderState::accepted) return send_again(context, tx, view, asked);
      log_contradiction(view, "the provider does not know a collection that it accepted");
      return ask_again(tx, view, asked);
    case CollectionState::pending: {
      if (view.state != ProviderState::accepted) {
        view.state = ProviderState::accepted;
        store::set_provider_state(tx, view.payment.key, view.state);
        view.expires_at = response.expires_at.value_or(tx.now().plus_ms(kCollectionLifetimeMs));
        store::set_instructions(tx, view.payment.key, response.instructions, *view.expires_at);
      }
      return ask_again(tx, view, asked);
    }
    case CollectionState::collected:
      return collected(context, tx, view, asked, response);
    case CollectionState::failed:
      return end_uncredited(
          context, tx, view,
          {PaymentStatus::failed, response.failure.value_or(FailureCode::provider_error), {}, {}});
    case CollectionState::expired:
      return end_uncredited(context, tx, view, {PaymentStatus::expired, {}, {}, {}});
  }
}

void apply_fault(const Context&, store::WriteTx& tx, ProviderView& view, int asked,
                 const Problem& fault) {
  if (is_over(view)) return;
  const std::int64_t delay = std::max<std::int64_t>(poll_delay_ms(view.payment.environment, asked),
                                                    fault.retry_after_s.value_or(0) * 1000);
  store::reschedule_provider_job(tx, view.payment.key, tx.now().plus_ms(delay), asked + 1);
}

}  // namespace coffer::flows
