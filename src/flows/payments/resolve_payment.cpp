#include "flows/payments/resolve_payment.h"

#include "flows/ledger/market_changes.h"
#include "flows/payments/payment_steps.h"
#include "flows/providers/provider_callback.h"
#include "flows/providers/provider_outcome.h"
#include "store/operations/payment_lists.h"
#include "store/operations/payment_story.h"

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

// The longest possible duration of a call. An older call that is still open was interrupted by a
// crash, and the next call queries its result.
constexpr std::int64_t kCallMsMax = 120'000;

/// Whether the last call is in progress, so its response is not known yet.
bool is_being_asked(store::WriteTx& tx, std::int64_t payment) {
  const auto attempts = store::attempts_of_payment(tx.db(), payment);
  return !attempts.empty() && !attempts.back().closed_at &&
         tx.now() < attempts.back().opened_at.plus_ms(kCallMsMax);
}

constexpr const char* kLedgerFull =
    "Crediting this amount would exceed the ledger's limit for the asset. Try again when less of "
    "it "
    "is in circulation.";

bool may_receive(store::WriteTx& tx, const ProviderView& view) {
  const auto wallet = view.payment.keys.legs.front().destination_wallet;
  return store::wallet_status(tx.db(), *wallet) == WalletStatus::verified;
}

/// Why the payment cannot get this result in its current state; empty if it can.
std::string objection(store::WriteTx& tx, const PaymentRecord& record, const ProviderView& view,
                      Resolution as) {
  const bool cash_out = record.request.type == PaymentType::offramp;
  const bool in_progress = !is_settled(record.status);
  const std::string now = "This one is " + std::string(name(record.status)) + ".";
  if (is_being_asked(tx, record.key)) {
    return "A request to the provider is in progress. Wait for its result, at most 2 minutes, then "
           "try again.";
  }
  switch (as) {
    case Resolution::succeeded:
      if (!cash_out && !may_receive(tx, view)) {
        return "The destination wallet is not verified, so it cannot receive payments. Complete "
               "its "
               "review first.";
      }
      if (!cash_out && in_progress &&
          !may_enter(tx, view.payment.environment, collection_posting(tx, view.payment))) {
        return kLedgerFull;
      }
      [[fallthrough]];
    case Resolution::failed:
      return in_progress
                 ? ""
                 : "Only a payment in progress can be resolved as succeeded or failed. " + now;
    case Resolution::refunded:
      break;
  }
  if (!cash_out) return "Only an off-ramp payment can be resolved as refunded.";
  if (record.status == PaymentStatus::refund_pending ||
      record.status == PaymentStatus::refund_failed) {
    return can_give_back(tx, view) ? "" : kLedgerFull;
  }
  if (!in_progress) return "Only a payment with an open refund can be resolved as refunded. " + now;
  return view.state == ProviderState::accepted ? ""
                                               : "The wallet has not been debited, so there is "
                                                 "nothing to refund. Resolve the payment as "
                                                 "succeeded or failed.";
}

void apply(const Context& context, store::WriteTx& tx, ProviderView& view, Resolution as) {
  switch (as) {
    case Resolution::succeeded:
      return decide(context, tx, view, std::nullopt);
    case Resolution::failed:
      return decide(context, tx, view, FailureCode::operator_failed);
    case Resolution::refunded:
      break;
  }
  if (is_settled(view.payment.status)) return give_back(context, tx, view);
  decide(context, tx, view, FailureCode::operator_failed);  // credits the debited amount back
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
  if (!is_quoted(record.request.type)) {
    return conflict(
        "Only off-ramp and on-ramp payments can be resolved. coffer settles a payment of the "
        "type " +
        std::string(name(record.request.type)) + " automatically.");
  }
  ProviderView view = store::provider_view(tx.db(), record.key);
  if (const std::string why_not = objection(tx, record, view, result.as); !why_not.empty()) {
    return conflict(why_not);
  }
  note(tx, record.key, result);
  apply(context, tx, view, result.as);
  tx.signal(store::Signal::providers);
  return {};
}

Result<void> retry(store::WriteTx& tx, std::int64_t payment) {
  const auto job = store::job_of_payment(tx.db(), payment);
  if (!job) return conflict("The payment is complete, so there is nothing to retry.");
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
    COFFER_TRY_VOID(retry(tx, record.key));
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
