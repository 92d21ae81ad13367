#include "flows/providers/references.h"

#include "auth/strkey.h"
#include "base/check.h"
#include "domain/payments/quote.h"
#include "flows/operations/figures.h"
#include "flows/payments/payment_steps.h"
#include "flows/providers/terms.h"
#include "flows/webhooks/events.h"
#include "outbound/providers/connector.h"
#include "store/identity/tenants.h"
#include "store/providers/provider_payments.h"

namespace coffer::flows {
namespace {

/// The objects of a registration, after their checks.
struct Target {
  store::ConnectorRow connector;
  std::int64_t wallet = 0;
};

Result<std::int64_t> settlement_wallet(store::Connection& db, const Caller& caller,
                                       const std::string& account) {
  const auto wallet = auth::PublicKey::parse(account)
                          ? store::find_wallet_by_public_key(db, caller.tenant, account)
                          : std::nullopt;
  if (!wallet) {
    return unexpected(Problem(Slug::not_found, "The settlement account is not one of your wallets.",
                              {{"settlementAccount", "is not one of your wallets"}}));
  }
  if (wallet->status != WalletStatus::verified) {
    return unexpected(
        Problem(Slug::wallet_not_verified, "Only a Verified wallet can transact.",
                {{"settlementAccount", "is a " + std::string(name(wallet->status)) +
                                           " wallet; only a Verified one can transact"}}));
  }
  return wallet->key;
}

Result<Target> check_registration(store::Connection& db, const Caller& caller,
                                  const NewReference& request) {
  const auto connector = store::find_connector(db, caller.tenant.environment, request.connector);
  if (!connector) {
    return unexpected(
        Problem(Slug::not_found, "The connector was not found.",
                {{"connectorId", "is not a connector; list connectors with GET /v1/connectors"}}));
  }
  COFFER_TRY(const std::int64_t wallet, settlement_wallet(db, caller, request.settlement_account));
  if (!connector->terms.issues_references) {
    return unexpected(
        Problem(Slug::validation_failed, "The connector does not issue references.",
                {{"connectorId", "does not issue references; choose one with flow BESPOKE"}}));
  }
  if (connector->terms.status == ConnectorStatus::paused) {
    return unexpected(
        Problem(Slug::conflict, "The connector is paused.", {{"connectorId", "is paused"}}));
  }
  if (!store::find_trustline(db, wallet, connector->terms.asset.key)) {
    return unexpected(Problem(
        Slug::trustline_missing, "The wallet has no trustline for the settlement asset.",
        {{"settlementAccount", "has no trustline for " + connector->terms.asset.code.value()}}));
  }
  if (store::has_references(db, caller.tenant, connector->terms.key, request.customer_id)) {
    return unexpected(Problem(
        Slug::references_exist,
        "The customer already has references on this connector. List them instead.",
        {{"customerId", "already has references; list them with GET /v1/onramp/references"}}));
  }
  return Target{*connector, wallet};
}

store::ReferenceRow as_row(const outbound::IssuedReference& issued) {
  store::ReferenceRow row;
  row.reference = issued.reference;
  row.metadata = issued.metadata;
  return row;
}

Result<outbound::ReferenceResponse> ask_provider(const Context& context, const Caller& caller,
                                                 const Target& target,
                                                 const NewReference& request) {
  COFFER_TRY(const ConnectorTerms terms, callable(context, target.connector));
  outbound::ReferenceAsk ask;
  // The request ID is always the same for a customer, so a repeated request returns a lost
  // response.
  ask.id = caller.tenant.association.to_string() + ":" + request.customer_id;
  ask.customer_id = request.customer_id;
  ask.settlement_account = request.settlement_account;
  COFFER_TRY(outbound::ReferenceResponse response, context.connectors.issue_reference(terms, ask));
  switch (response.kind) {
    case outbound::ReferenceResponse::Kind::customer_not_registered:
      return unexpected(Problem(Slug::not_found, "The provider does not know this customer.",
                                {{"customerId", "must be registered with the provider first"}}));
    case outbound::ReferenceResponse::Kind::cannot_assign:
      return unexpected(
          Slug::conflict,
          "The provider could not assign references. Retry later, or contact the provider.");
    case outbound::ReferenceResponse::Kind::issued:
      break;
  }
  return response;
}

Result<store::ReferenceRow> store_reference(store::WriteTx& tx, const Caller& caller,
                                            const NewReference& request,
                                            const outbound::ReferenceResponse& response) {
  // Repeats the checks, because the association may have been suspended and the customer registered
  // during the call.
  COFFER_TRY_VOID(require_active(tx.association_status(caller.tenant)));
  COFFER_TRY(const Target target, check_registration(tx.db(), caller, request));
  store::ReferenceRow row = as_row(response.issued);
  row.application = caller.application_key;
  row.connector = target.connector.terms.key;
  row.wallet = target.wallet;
  row.customer_id = request.customer_id;
  for (const auto& related : response.related) row.related.push_back(as_row(related));
  std::vector<std::string> all{row.reference};
  for (const auto& related : row.related) all.push_back(related.reference);
  for (const std::string& reference : all) {
    if (!store::is_reference_free(tx.db(), row.connector, reference)) {
      return unexpected(Slug::conflict, "The provider issued a reference that is already in use.");
    }
  }
  COFFER_TRY_VOID(tx.room_for(caller.tenant, Quota::file_bytes));
  store::insert_reference(tx, caller.tenant, row);
  return *store::find_reference(tx.db(), row.connector, row.reference);
}

/// Handles a payment that was reported before: a repetition, or a contradiction.
Result<ArrivedPayment> told_before(store::Connection& db, std::int64_t payment,
                                   const store::ReferenceRow& reference,
                                   const ReferenceArrival& arrival) {
  const auto record = store::find_payment_by_key(db, payment);
  COFFER_CHECK(record.has_value());
  const bool same = record->sending_amount == arrival.amount &&
                    record->request.only().destination_wallet == reference.wallet_id;
  if (same) return ArrivedPayment{record->id, true};
  return unexpected(Slug::conflict,
                    "This provider payment was reported before with different content.");
}

Result<ArrivedPayment> accept(const Context& context, store::WriteTx& tx,
                              const ConnectorTerms& connector, const ReferenceArrival& arrival,
                              std::string_view request_id) {
  const auto reference = store::find_reference(tx.db(), connector.key, arrival.reference);
  if (!reference) return unexpected(Slug::not_found, "The reference was not found.");
  if (const auto known =
          store::find_reference_payment(tx.db(), connector.key, arrival.provider_payment_id)) {
    return told_before(tx.db(), *known, *reference, arrival);
  }
  COFFER_TRY(const Price price, price_exact_send(connector, arrival.amount, std::nullopt));
  const auto id = tx.new_id<PaymentId>(context.random);
  PaymentRequest request;
  request.type = PaymentType::onramp_reference;
  request.transaction_id = "ref-" + id.to_string();
  TransferLeg leg;
  leg.sending_asset = AssetCode::parse(connector.currency).value_or(AssetCode());
  leg.amount = arrival.amount;
  leg.destination_wallet = reference->wallet_id;
  if (is_reference(arrival.reference)) leg.refs.to_ref = arrival.reference;
  leg.description = "Collection on " + arrival.reference;
  request.legs.push_back(leg);
  request.payer = arrival.payer;
  store::PaymentKeys keys;
  keys.legs.push_back({std::nullopt, reference->wallet, std::nullopt});
  keys.receiving_asset = connector.asset.key;
  keys.connector = connector.key;
  const Tenant tenant = store::tenant_by_key(tx.db(), reference->tenant);
  if (arrival.simulated) COFFER_TRY_VOID(tx.room_for(tenant, Quota::file_bytes));
  const std::int64_t payment = store::insert_payment(
      tx, tenant,
      {id, reference->application, request_id, request, keys, arrival.amount,
       store::ProviderTerms{price.fee, price.total, price.receive, std::nullopt},
       tx.now().plus_ms(context.settle_delay_ms)});
  store::set_provider_reference(tx, payment, arrival.provider_payment_id);
  store::insert_reference_payment(tx, *reference, arrival.provider_payment_id, payment);
  emit_payment_event(tx, context.random, tenant.key, payment, PaymentStatus::initiated, 1);
  count_payment(context, tx, request.type, PaymentStatus::initiated);
  emit_event(tx, context.random, tenant.key, EventType::reference_payment_received, payment);
  tx.signal(store::Signal::settlement);
  return ArrivedPayment{id, false};
}

}  // namespace

Result<store::ReferenceRow> register_reference(const Context& context, const Caller& caller,
                                               const NewReference& request) {
  COFFER_TRY_VOID(require_active(caller.association_status));
  COFFER_TRY(const Target target, context.read([&](store::Connection& db) {
    return check_registration(db, caller, request);
  }));
  COFFER_TRY(const auto response, ask_provider(context, caller, target, request));
  return context.write(
      [&](store::WriteTx& tx) { return store_reference(tx, caller, request, response); });
}

Result<ArrivedPayment> accept_reference_payment(const Context& context,
                                                const ConnectorTerms& connector,
                                                const ReferenceArrival& arrival,
                                                std::string_view request_id) {
  if (truncate_to(arrival.amount, connector.currency_decimals) != arrival.amount) {
    return unexpected(
        Problem(Slug::amount_precision, "The amount has too many decimal places.",
                {{"amount", connector.currency + " has " +
                                std::to_string(connector.currency_decimals) + " decimal places"}}));
  }
  return context.write(
      [&](store::WriteTx& tx) { return accept(context, tx, connector, arrival, request_id); });
}

void settle_reference_payment(const Context& context, store::WriteTx& tx,
                              store::SettlementView& payment) {
  if (credit_collection(context, tx, payment)) return;
  store::schedule_settlement(tx, {tx.now().plus_ms(kReviewPollMs), payment.key});
}

}  // namespace coffer::flows
