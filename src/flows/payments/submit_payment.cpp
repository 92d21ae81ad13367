#include "flows/payments/submit_payment.h"

#include "flows/events.h"
#include "flows/operations/figures.h"
#include "flows/payments/limits.h"
#include "flows/payments/payment_plan.h"
#include "flows/payments/payment_steps.h"
#include "store/ledger/journal.h"
#include "store/payments/payments.h"
#include "store/payments/quotes.h"
#include "store/payments/refunds.h"
#include "store/providers/provider_payments.h"

namespace coffer::flows {
namespace {

/// Maximum number of attempts. If the connector changes during each, the submission returns
/// `conflict`.
constexpr int kSubmitTurns = 3;

Result<CheckedFields> checked_fields(const Context& context, const Tenant& tenant,
                                     const PaymentRequest& request) {
  if (!is_quoted(request.type)) return CheckedFields();
  return context.read([&](store::Connection& db) -> Result<CheckedFields> {
    return check_fields(db, tenant, request);
  });
}

/// Repeats the first acknowledgement, or returns the conflict with the names of the fields that
/// differ. `also` contains further fields that differ.
Result<Submission> replay(const store::PaymentRecord& stored, const PaymentRequest& request,
                          std::vector<std::string> also = {}) {
  auto differing = differing_fields(stored.request, request);
  if (stored.request.type != request.type) also.clear();
  // The receiving side of the quote may be a currency, which a request cannot contain.
  if (is_quoted(request.type) && stored.request.type == request.type && request.receiving_asset) {
    const auto receiving = store::receiving_denomination(stored);
    if (!receiving || receiving->code != request.receiving_asset->value()) {
      differing.emplace_back("receivingAssetCode");
    }
  }
  differing.insert(differing.end(), also.begin(), also.end());
  if (differing.empty()) return Submission{stored.id, true};
  return transaction_id_conflict(differing);
}

/// The replay check precedes every check of a state that may have changed since the first
/// submission. The association is checked here, because a suspension may have been committed while
/// the command waited.
Result<Submission> accept(const Context& context, store::WriteTx& tx, const Caller& caller,
                          const PaymentRequest& request, CheckedFields& checked,
                          std::string_view request_id, const PaymentCheck& check) {
  if (const auto stored =
          store::find_by_transaction_id(tx.db(), caller.tenant, request.transaction_id)) {
    return replay(*stored, request);
  }
  if (store::find_reversal(tx.db(), caller.tenant, request.transaction_id)) {
    return transaction_id_conflict({"transactionId"});
  }
  COFFER_TRY_VOID(require_active(tx.association_status(caller.tenant)));
  COFFER_TRY_VOID(tx.check_quota(caller.tenant, Quota::file_bytes));
  COFFER_TRY(const PaymentPlan plan, plan_payment(context, tx, caller, request, checked));
  COFFER_TRY(const auto holds, holds_for(plan.movements));
  COFFER_TRY(const auto limits, take_limits(tx, caller, plan));
  const auto id = tx.new_id<PaymentId>(context.random);
  const Timestamp due = tx.now().plus_ms(context.settle_delay_ms);
  const std::int64_t payment = store::insert_payment(
      tx, caller.tenant,
      {id, caller.application_key, request_id, plan.request, plan.keys, plan.total, plan.provider,
       plan.lane ? std::nullopt : std::optional(due)});
  for (const store::LimitRow& limit : limits) store::store_limit_use(tx, limit);
  store::place_holds(tx, payment, request.type, holds);
  store::seal_payment(tx, payment, request.type);
  emit_payment_event(tx, context.random, caller.tenant.key, payment, PaymentStatus::initiated, 1);
  count_payment(context, tx, request.type, PaymentStatus::initiated);
  if (plan.keys.quote) store::use_quote(tx, caller.tenant, *plan.keys.quote, payment);
  if (plan.lane) {
    store::add_provider_job(tx, {*plan.lane, due, payment, 0});
    tx.signal(store::Signal::providers);
  } else {
    tx.signal(store::Signal::settlement);
  }
  if (check) COFFER_TRY_VOID(check(tx, *store::find_payment_by_key(tx.db(), payment)));
  return Submission{id, false};
}

}  // namespace

Unexpected transaction_id_conflict(const std::vector<std::string>& differing) {
  Problem problem(Slug::transaction_id_conflict,
                  "This transactionId was already used for a request with different content.");
  for (const std::string& field : differing) {
    problem.fields.push_back({field, "differs from the first submission"});
  }
  return unexpected(std::move(problem));
}

Result<Submission> submit_payment(const Context& context, const Caller& caller,
                                  const PaymentRequest& request, std::string_view request_id,
                                  bool validate_only, const PaymentCheck& check) {
  COFFER_TRY_VOID(check_request(request));
  const auto mode =
      validate_only ? store::CommitQueue::Mode::dry_run : store::CommitQueue::Mode::repeatable;
  for (int turn = 1;; ++turn) {
    COFFER_TRY(CheckedFields checked, checked_fields(context, caller.tenant, request));
    auto submission = context.write(
        [&](store::WriteTx& tx) {
          return accept(context, tx, caller, request, checked, request_id, check);
        },
        mode);
    if (!checked.outdated || turn == kSubmitTurns) return submission;
  }
}

Result<Submission> replay_submission(const Context& context, const Tenant& tenant,
                                     const store::PaymentRecord& stored, PaymentRequest request,
                                     const QuoteRequest* quoted) {
  std::vector<std::string> other_price;
  if (quoted != nullptr && stored.request.quote) {
    request.quote = stored.request.quote;
    COFFER_TRY(const Quoted first, find_quote(context, tenant, *stored.request.quote));
    if (first.connector.id != quoted->connector) other_price.emplace_back("connectorId");
    if (first.quote.price.send != quoted->amount) other_price.emplace_back("amount");
    if (quoted->type && first.quote.type != quoted->type) {
      other_price.emplace_back("transactionType");
    }
  }
  return replay(stored, request, std::move(other_price));
}

Result<std::optional<store::PaymentRecord>> find_submission(const Context& context,
                                                            const Tenant& tenant,
                                                            std::string_view transaction_id) {
  return context.read([&](store::Connection& db) -> Result<std::optional<store::PaymentRecord>> {
    return store::find_by_transaction_id(db, tenant, transaction_id);
  });
}

}  // namespace coffer::flows
