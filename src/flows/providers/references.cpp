#include "flows/providers/references.h"

#include "auth/strkey.h"
#include "flows/payments/terms.h"
#include "outbound/providers/connector.h"
#include "store/ledger/wallets.h"

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
  COFFER_TRY_VOID(tx.check_quota(caller.tenant, Quota::file_bytes));
  store::insert_reference(tx, caller.tenant, row);
  return *store::find_reference(tx.db(), row.connector, row.reference);
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

}  // namespace coffer::flows
