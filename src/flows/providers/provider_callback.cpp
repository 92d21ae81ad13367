#include "flows/providers/provider_callback.h"

#include <algorithm>
#include <vector>

#include "flows/payments/payment_steps.h"
#include "flows/payments/terms.h"
#include "flows/providers/collection_refunds.h"
#include "flows/providers/contradictions.h"
#include "flows/providers/provider_outcome.h"
#include "outbound/providers/provider_messages.h"
#include "outbound/providers/provider_signature.h"

namespace coffer::flows {
namespace {

using store::PaymentRecord;
using store::ProviderView;

Unexpected no_such_connector() {
  return unexpected(Slug::not_found, "The connector was not found.");
}

/// The connector at every endpoint that may call back, the current one first; empty if the
/// connector does not exist.
std::vector<store::ConnectorRow> callers(store::Connection& db, ConnectorId id) {
  std::vector<store::ConnectorRow> out;
  auto present = store::find_connector_of_any(db, id);
  if (!present || !present->terms.endpoint) return out;
  const std::int64_t key = present->terms.key;
  out.push_back(*std::move(present));
  for (store::ConnectorRow& left : store::find_connector_at_retired(db, key)) {
    if (store::payments_in_progress_at(db, key, left.terms.endpoint->key) == 0) continue;
    out.push_back(std::move(left));
  }
  return out;
}

/// Whether a callback about a payment in a final status reports another one. Callbacks arrive late
/// and out of order, so one without a final status reports nothing. A callback is a hint, so one
/// that contradicts the request or itself causes the query, too.
bool says_otherwise(const ProviderView& view, const ConnectorTerms& connector, PaymentId id,
                    const http::JsonValue& data) {
  const http::JsonValue* member = data.find("status");
  const std::string* status = member == nullptr ? nullptr : member->string();
  if (status == nullptr || *status == "pending" || *status == "in_review") return false;
  const bool closed = view.open_item == OpenItem::closed;
  if (view.payment.type == PaymentType::offramp) {
    outbound::Payout payout;
    payout.id = id;
    payout.send = view.payment.amounts.front();
    payout.receive = view.payment.receiving_amount.value_or(Amount());
    const auto told = outbound::read_payout(connector, payout, data);
    // The operator who closed the item knew of the only other result.
    return !told || (!closed && contradicts(view, *told));
  }
  outbound::Collection collection;
  collection.id = id;
  collection.send = view.payment.amounts.front();
  const auto told = outbound::read_collection(connector, collection, data);
  if (!told) return true;
  if (closed) return told->collected && told->collected != view.collected;
  return contradicts(view, *told);
}

/// Whether the payment already has the result of this decision.
bool came_to(const PaymentRecord& record, std::optional<FailureCode> failure) {
  return failure ? record.failure == failure : record.status == PaymentStatus::succeeded;
}

}  // namespace

void decide(const Context& context, store::WriteTx& tx, ProviderView& view,
            std::optional<FailureCode> failure) {
  if (is_refunding(view.payment)) return end_refund(context, tx, view, failure);
  if (view.payment.status == PaymentStatus::initiated) advance(context, tx, view.payment, {});
  if (view.payment.type == PaymentType::offramp) {
    outbound::PayoutResponse response;
    response.state = failure ? outbound::PayoutState::failed : outbound::PayoutState::succeeded;
    response.failure = failure;
    apply_response(context, tx, view, 0, response);
    return;
  }
  outbound::CollectionResponse response;
  response.state =
      failure ? outbound::CollectionState::failed : outbound::CollectionState::collected;
  response.failure = failure;
  apply_response(context, tx, view, 0, response);
}

Result<ConnectorTerms> verify_provider(const Context& context, ConnectorId id,
                                       const SignedCall& call) {
  COFFER_TRY(const auto rows, context.read([&](store::Connection& db) { return callers(db, id); }));
  if (rows.empty()) return no_such_connector();
  Result<void> verified;
  for (const store::ConnectorRow& row : rows) {
    COFFER_TRY(ConnectorTerms terms, callable(context, row));
    verified = outbound::verify(terms.endpoint->secret, context.clock.machine_now(), call.timestamp,
                                call.signature, {call.method, call.path, call.body});
    if (verified) return terms;
  }
  return unexpected(std::move(verified).error());
}

Result<void> hear_update(const Context& context, const ConnectorTerms& connector, PaymentId id,
                         const http::JsonValue& data) {
  return context.write([&](store::WriteTx& tx) {
    const auto payment = store::find_provider_payment(tx.db(), connector.key, id);
    if (!payment) return;
    const ProviderView view = store::provider_view(tx, *payment);
    if (is_refunding(view.payment)) {  // its job is about the refund
      if (is_quoted(view.payment.type) && says_otherwise(view, connector, id, data)) {
        leave_contradiction(tx, view, ProviderCall::collection_status, "collection contradicted");
      }
      return;
    }
    if (store::find_provider_job(tx.db(), *payment)) {
      store::hurry_provider_job(tx, *payment);
      tx.signal(store::Signal::providers);
      return;
    }
    const bool asks = is_quoted(view.payment.type) && view.open_item != OpenItem::contradicted;
    if (asks && says_otherwise(view, connector, id, data)) {
      begin_check(tx, view, connector.lane(), kAfterMessage);
    }
  });
}

Result<void> hear_refund(const Context& context, const ConnectorTerms& connector, RefundId id,
                         const http::JsonValue& data) {
  return context.write([&](store::WriteTx& tx) {
    const auto payment = store::payment_of_refund(tx.db(), id);
    if (!payment) return;
    const auto view = store::provider_view(tx, *payment);
    if (view.payment.keys.connector != connector.key) return;
    const auto rows = store::refunds_of(tx.db(), *payment);
    const auto row = std::ranges::find(rows, id, &store::RefundRow::id);
    if (row->state != RefundState::waiting) {
      const http::JsonValue* member = data.find("status");
      const std::string* status = member == nullptr ? nullptr : member->string();
      if (status == nullptr || *status != (payer_has(rows, id) ? "failed" : "succeeded")) return;
      return leave_contradiction(tx, view, ProviderCall::refund_status,
                                 "refund " + id.to_string() + ": " + *status);
    }
    store::hurry_provider_job(tx, *payment);
    tx.signal(store::Signal::providers);
  });
}

Result<PaymentRecord> decide_payment(const Context& context, const Tenant& tenant, PaymentId id,
                                     std::optional<FailureCode> failure) {
  return context.write([&](store::WriteTx& tx) -> Result<PaymentRecord> {
    COFFER_TRY(auto record, existing(store::find_payment(tx.db(), tenant, id), "transaction"));
    const bool quoted =
        is_quoted(record.request.type) || record.status == PaymentStatus::refund_pending;
    if (quoted && came_to(record, failure)) return record;
    if (!quoted || !store::find_provider_job(tx.db(), record.key) ||
        is_checking(record.provider->open_item)) {
      return unexpected(Slug::conflict, "The transaction is not in progress at a provider.");
    }
    ProviderView view = store::provider_view(tx, record.key);
    decide(context, tx, view, failure);
    tx.signal(store::Signal::providers);
    return *store::find_payment_by_key(tx.db(), record.key);
  });
}

}  // namespace coffer::flows
