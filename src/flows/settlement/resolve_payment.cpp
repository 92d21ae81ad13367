#include "flows/settlement/resolve_payment.h"

#include "flows/payments/payment_steps.h"
#include "flows/providers/collection_refunds.h"
#include "flows/providers/contradictions.h"
#include "flows/providers/provider_callback.h"
#include "flows/providers/provider_outcome.h"
#include "flows/providers/refunds.h"
#include "flows/settlement/resolution_rules.h"
#include "store/operations/payment_lists.h"
#include "store/operations/payment_story.h"
#include "store/payments/refunds.h"
#include "store/providers/connectors.h"

namespace coffer::flows {
namespace {

using store::PaymentRecord;
using store::ProviderView;

Unexpected no_such_payment() { return unexpected(Slug::not_found, "The payment was not found."); }
Unexpected conflict(std::string what) { return unexpected(Slug::conflict, std::move(what)); }

Result<PaymentRecord> required_payment(store::Connection& db, PaymentId id) {
  const auto key = store::payment_key(db, id);
  if (!key) return no_such_payment();
  return *store::find_payment_by_key(db, *key);
}

void fail_reference(const Context& context, store::WriteTx& tx, ProviderView& view, OpenItem item) {
  if (!is_settled(view.payment.status)) {
    advance(context, tx, view.payment,
            {PaymentStatus::failed, FailureCode::operator_failed, {}, {}});
  }
  store::set_open_item(tx, view.payment.key, item);
}

void to_succeeded(const Context& context, store::WriteTx& tx, ProviderView& view) {
  if (!is_settled(view.payment.status)) return decide(context, tx, view, std::nullopt);
  if (view.payment.type == PaymentType::onramp && !view.collected) {
    store::set_collected(tx, view, view.payment.amounts.front());
  }
  book(context, tx, view);
}

void to_refunded(const Context& context, store::WriteTx& tx, ProviderView& view) {
  if (!is_settled(view.payment.status)) {  // credits the debited amount back
    return decide(context, tx, view, FailureCode::operator_failed);
  }
  if (view.payment.status == PaymentStatus::succeeded) {
    advance(context, tx, view.payment,
            {PaymentStatus::failed, FailureCode::provider_error, {}, {}});
    advance(context, tx, view.payment, {PaymentStatus::refund_pending, {}, {}, {}});
  }
  give_back(context, tx, view);
  store::set_open_item(tx, view.payment.key, OpenItem::none);
}

void apply(const Context& context, store::WriteTx& tx, ProviderView& view, Resolution as) {
  if (is_refunding(view.payment)) {
    const bool refunded = as == Resolution::refunded;
    return decide(context, tx, view,
                  refunded ? std::nullopt : std::optional(FailureCode::operator_failed));
  }
  switch (as) {
    case Resolution::succeeded:
      return to_succeeded(context, tx, view);
    case Resolution::failed:
      if (is_quoted(view.payment.type)) {
        return decide(context, tx, view, FailureCode::operator_failed);
      }
      return fail_reference(context, tx, view, OpenItem::unbooked);
    case Resolution::refunded:
      return to_refunded(context, tx, view);
    case Resolution::returned:
      return fail_reference(context, tx, view, OpenItem::closed);
    case Resolution::unchanged:
      return store::set_open_item(tx, view.payment.key, OpenItem::closed);
  }
}

/// Stores the operator's result where the provider's responses are stored.
void note(store::WriteTx& tx, std::int64_t payment, const ManualResult& result) {
  const int attempt = store::open_attempt(tx, payment, ProviderCall::status);
  store::close_attempt(
      tx, payment, attempt,
      "resolved as " + std::string(name(result.as)) + " by " + result.who + ": " + result.why);
}

Result<void> resolve(const Context& context, store::WriteTx& tx, const PaymentRecord& record,
                     const ManualResult& result) {
  if (!record.provider) {
    return conflict(
        "Only payments through a provider can be resolved. coffer settles a payment of the type " +
        std::string(name(record.request.type)) + " automatically.");
  }
  ProviderView view = store::provider_view(tx, record.key);
  if (const std::string why_not = objection(tx, record, view, result); !why_not.empty()) {
    return conflict(why_not);
  }
  const bool paid_before = was_paid(view.payment);
  note(tx, record.key, result);
  if (result.refund && !is_refunding(view.payment)) {
    COFFER_TRY_VOID(book_failed_refund(context, tx, record, view, *result.refund));
    store::set_open_item(tx, record.key, OpenItem::none);
    return {};
  }
  apply(context, tx, view, result.as);
  if (result.as == Resolution::succeeded && !paid_before) {
    ProviderView paid = store::provider_view(tx, record.key);
    settle_returns(context, tx, paid, RefundState::disputed);
  } else {
    store::close_disputed_refunds(tx, record.key);
  }
  tx.signal(store::Signal::providers);
  return {};
}

/// Queries the provider of a payment in a final status once.
Result<void> check(store::WriteTx& tx, const PaymentRecord& record) {
  if (!is_quoted(record.request.type)) {
    return conflict("The payment is complete, so there is nothing to retry.");
  }
  const ProviderView view = store::provider_view(tx, record.key);
  if (view.open_item == OpenItem::contradicted || is_checking(view.open_item)) {
    return conflict("The provider was already queried about this payment. Resolve the payment.");
  }
  const auto connector = store::find_connector_by_key(tx.db(), *view.payment.keys.connector);
  begin_check(tx, view, connector->terms.lane(), kAfterRequest);
  return {};
}

Result<void> retry(store::WriteTx& tx, const PaymentRecord& record) {
  const std::int64_t payment = record.key;
  const auto job = store::job_of_payment(tx.db(), payment);
  if (!job) return check(tx, record);
  if (job->with_provider) {
    store::hurry_provider_job(tx, payment);
    tx.signal(store::Signal::providers);
  } else {
    store::schedule_settlement(tx, {tx.now(), payment});
    tx.signal(store::Signal::settlement);
  }
  return {};
}

}  // namespace

Result<PaymentRecord> retry_payment(const Context& context, PaymentId id) {
  return context.write([&](store::WriteTx& tx) -> Result<PaymentRecord> {
    COFFER_TRY(auto record, required_payment(tx.db(), id));
    COFFER_TRY_VOID(retry(tx, record));
    return record;
  });
}

Result<PaymentRecord> resolve_payment(const Context& context, PaymentId id,
                                      const ManualResult& result) {
  return context.write([&](store::WriteTx& tx) -> Result<PaymentRecord> {
    COFFER_TRY(const auto record, required_payment(tx.db(), id));
    COFFER_TRY_VOID(resolve(context, tx, record, result));
    return *store::find_payment_by_key(tx.db(), record.key);
  });
}

}  // namespace coffer::flows
