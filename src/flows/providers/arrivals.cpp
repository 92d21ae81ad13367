#include "flows/providers/arrivals.h"

#include <algorithm>

#include "base/check.h"
#include "base/telemetry/log.h"
#include "domain/providers/quote.h"
#include "flows/events.h"
#include "flows/operations/figures.h"
#include "flows/payments/payment_steps.h"
#include "flows/providers/contradictions.h"
#include "store/identity/tenants.h"
#include "store/payments/payment_seal.h"
#include "store/providers/connectors.h"
#include "store/providers/provider_payments.h"
#include "store/providers/references.h"
#include "store/rows/guarded_rows.h"

namespace coffer::flows {
namespace {

constexpr std::string_view kTitle = "Payment on ";
static_assert(kTitle.size() + kProviderReferenceMax <= kDescriptionMax);

bool note_arrival(store::WriteTx& tx, std::int64_t payment, const ReferenceArrival& arrival) {
  return note_report(
      tx, payment, ProviderCall::collection_status,
      "reported: " + arrival.amount + " " + arrival.currency + " on " + arrival.reference);
}

/// Handles a payment that was reported before: a repetition, or a contradiction.
Result<ArrivedPayment> told_before(store::WriteTx& tx, std::int64_t payment,
                                   const ReferenceArrival& arrival) {
  store::require_intact_payment(tx.db(), payment);
  const auto record = store::find_payment_by_key(tx.db(), payment);
  if (!record || !record->provider ||
      record->provider->provider_reference != arrival.provider_payment_id) {
    throw store::ForeignChange("the row of " + arrival.provider_payment_id +
                               " in reference_payments has another payment");
  }
  const ArrivedPayment known{record->id, true};
  const auto amount = stored_amount(arrival.amount);
  if (amount && record->sending_amount == amount->amount &&
      record->provider->currency == arrival.currency &&
      record->request.only().refs.to_ref == arrival.reference) {
    return known;
  }
  if (arrival.simulated) {
    return unexpected(Slug::conflict,
                      "This provider payment was reported before with different content.");
  }
  if (!note_arrival(tx, payment, arrival)) return known;
  if (record->provider->open_item != OpenItem::unbooked) {
    store::set_open_item(tx, payment, OpenItem::contradicted);
  }
  log_error("providers", "a customer payment was reported again with different content",
            {{"payment_key", payment}});
  return known;
}

PaymentRequest request_of(const ConnectorTerms& connector, const store::ReferenceRow& reference,
                          const ReferenceArrival& arrival, Amount amount, PaymentId id) {
  PaymentRequest request;
  request.type = PaymentType::onramp_reference;
  request.transaction_id = "ref-" + id.to_string();
  TransferLeg leg;
  leg.sending_asset = AssetCode::parse(connector.currency).value_or(AssetCode());
  leg.amount = amount;
  leg.destination_wallet = reference.wallet_id;
  leg.refs.to_ref = arrival.reference;
  leg.description = std::string(kTitle) + arrival.reference;
  request.legs.push_back(std::move(leg));
  request.payer = arrival.payer;
  return request;
}

/// Writes the record and its first events. With `failure`, the payment fails in the same commit,
/// and its money is left to an operator. `stray`: the unassigned arrival that it comes from.
ArrivedPayment create(const Context& context, store::WriteTx& tx, const ConnectorTerms& connector,
                      const store::ReferenceRow& reference, const ReferenceArrival& arrival,
                      const ArrivalPrice& result, std::string_view request_id,
                      std::optional<std::int64_t> stray) {
  const auto id = tx.new_id<PaymentId>(context.random);
  const Price& price = result.price;
  const PaymentRequest request = request_of(connector, reference, arrival, price.send, id);
  store::PaymentKeys keys;
  keys.legs.push_back({std::nullopt, reference.wallet, std::nullopt});
  keys.receiving_asset = connector.asset.key;
  keys.connector = connector.key;
  const bool foreign = arrival.currency != connector.currency;
  store::NewPayment row{id, reference.application, request_id, request, keys, price.send};
  row.provider = store::ProviderTerms{price.fee, price.total, price.receive, std::nullopt,
                                      foreign ? std::optional(arrival.currency) : std::nullopt};
  if (!result.failure) row.settle_at = tx.now().plus_ms(context.settle_delay_ms);
  const Tenant tenant = store::tenant_by_key(tx.db(), reference.tenant);
  const std::int64_t payment = store::insert_payment(tx, tenant, row);
  store::set_provider_reference(tx, payment, arrival.provider_payment_id);
  store::insert_reference_payment(tx, reference, arrival.provider_payment_id, payment);
  store::seal_payment(tx, payment, request.type);
  emit_payment_event(tx, context.random, tenant.key, payment, PaymentStatus::initiated, 1);
  count_payment(context, tx, request.type, PaymentStatus::initiated);
  emit_event(tx, context.random, tenant.key, EventType::reference_payment_received, payment);
  if (result.failure) {
    note_arrival(tx, payment, arrival);
    store::SettlementView view = store::settlement_view(tx.db(), payment);
    advance(context, tx, view, {PaymentStatus::failed, result.failure, {}, {}});
    store::set_open_item(tx, payment, OpenItem::unbooked);
  } else {
    tx.signal(store::Signal::settlement);
  }
  if (stray) store::assign_arrival(tx, *stray, payment);
  return {id, false};
}

/// Whether it reports the same money, on whatever reference.
bool is_same_money(const store::ArrivalRow& stray, const ReferenceArrival& arrival) {
  return stray.amount == arrival.amount && stray.currency == arrival.currency;
}

Result<ArrivedPayment> accept(const Context& context, store::WriteTx& tx,
                              const ConnectorTerms& connector, const ReferenceArrival& arrival,
                              std::string_view request_id) {
  const auto strays = store::find_arrivals(tx.db(), connector.key, arrival.provider_payment_id);
  const auto same = std::ranges::find_if(strays, [&](const store::ArrivalRow& stray) {
    return stray.reference == arrival.reference && is_same_money(stray, arrival);
  });
  if (same != strays.end() && !same->is_open()) return ArrivedPayment{same->payment_id, true};
  if (const auto known =
          store::find_reference_payment(tx.db(), connector.key, arrival.provider_payment_id)) {
    return told_before(tx, *known, arrival);
  }
  const auto reference = store::find_reference(tx.db(), connector.key, arrival.reference);
  const auto amount = stored_amount(arrival.amount);
  // A provider may correct the reference. Reports of different money credit nothing: an operator
  // compares them.
  const bool contradicts = !std::ranges::all_of(
      strays, [&](const store::ArrivalRow& stray) { return is_same_money(stray, arrival); });
  if (!reference || !amount || contradicts) {
    if (same != strays.end()) return ArrivedPayment{{}, true};
    put_aside(context, tx, connector.key, arrival);
    return ArrivedPayment();
  }
  if (arrival.simulated) {
    COFFER_TRY_VOID(
        tx.check_quota(store::tenant_by_key(tx.db(), reference->tenant), Quota::file_bytes));
  }
  ArrivalPrice result = price_arrival(connector, *amount, arrival.currency);
  // An operator has recorded that this money was returned, so only an operator books it.
  if (std::ranges::any_of(strays,
                          [](const auto& stray) { return stray.returned_at.has_value(); })) {
    result.failure = FailureCode::operator_failed;
  }
  const auto open = std::ranges::find_if(strays, &store::ArrivalRow::is_open);
  return create(context, tx, connector, *reference, arrival, result, request_id,
                open == strays.end() ? std::nullopt : std::optional(open->key));
}

Result<store::ArrivalRow> open_arrival(store::Connection& db, ArrivalId id) {
  COFFER_TRY(auto row, existing(store::find_arrival(db, id), "arrival"));
  if (row.is_open()) return row;
  return unexpected(Slug::conflict, row.returned_at ? "The arrival was returned to its payer."
                                                    : "The arrival is already assigned.");
}

}  // namespace

void put_aside(const Context& context, store::WriteTx& tx, std::int64_t connector,
               const ReferenceArrival& arrival) {
  store::ArrivalRow row;
  row.id = tx.new_id<ArrivalId>(context.random);
  row.connector = connector;
  row.provider_payment_id = arrival.provider_payment_id;
  row.reference = arrival.reference;
  row.amount = arrival.amount;
  row.currency = arrival.currency;
  row.payer = arrival.payer;
  store::insert_arrival(tx, row);
  log_error("providers", "money that arrived cannot be assigned to a payment",
            {{"connector_key", connector}});
}

Result<ArrivedPayment> accept_reference_payment(const Context& context,
                                                const ConnectorTerms& connector,
                                                const ReferenceArrival& arrival,
                                                std::string_view request_id) {
  return context.write(
      [&](store::WriteTx& tx) { return accept(context, tx, connector, arrival, request_id); });
}

void settle_reference_payment(const Context& context, store::WriteTx& tx,
                              store::SettlementView& payment) {
  if (credit_collection(context, tx, payment)) return;
  store::schedule_settlement(tx, {tx.now().plus_ms(kReviewPollMs), payment.key});
}

Result<PaymentId> assign_arrival(const Context& context, ArrivalId id, const std::string& reference,
                                 std::string_view request_id) {
  return context.write([&](store::WriteTx& tx) -> Result<PaymentId> {
    COFFER_TRY(const auto row, open_arrival(tx.db(), id));
    if (store::find_reference_payment(tx.db(), row.connector, row.provider_payment_id)) {
      return unexpected(Slug::conflict,
                        "A payment exists already for this provider payment. Compare both, then "
                        "return this arrival.");
    }
    const auto connector = store::find_connector_by_key(tx.db(), row.connector);
    const auto found = store::find_reference(tx.db(), row.connector, reference);
    if (!found) {
      return unexpected(Problem(Slug::not_found, "The reference was not found.",
                                {{"reference", "is not a reference of the arrival's connector"}}));
    }
    const auto amount = stored_amount(row.amount);
    if (!amount) {
      return unexpected(Slug::conflict,
                        "The ledger cannot hold this amount. Return it to its payer.");
    }
    const ReferenceArrival arrival{
        reference, row.provider_payment_id, row.amount, row.currency, row.payer, false};
    const ArrivalPrice result = price_arrival(connector->terms, *amount, arrival.currency);
    return *create(context, tx, connector->terms, *found, arrival, result, request_id, row.key).id;
  });
}

Result<store::ArrivalRow> return_arrival(const Context& context, ArrivalId id) {
  return context.write([&](store::WriteTx& tx) -> Result<store::ArrivalRow> {
    COFFER_TRY(const auto row, open_arrival(tx.db(), id));
    store::return_arrival(tx, row.key);
    return *store::find_arrival(tx.db(), id);
  });
}

}  // namespace coffer::flows
