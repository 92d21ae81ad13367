#include "api/json/fields.h"
#include "api/json/json.h"
#include "api/pipeline/route_groups.h"
#include "api/pipeline/services.h"
#include "flows/ledger/wallet_changes.h"
#include "flows/providers/arrivals.h"
#include "flows/providers/provider_callback.h"
#include "store/providers/connectors.h"
#include "store/providers/references.h"

namespace coffer::api {
namespace {

Result<WalletId> funded_wallet_id(const Call& call) {
  return existing(WalletId::parse(call.param("walletId")), "wallet");
}

Result<http::Response> wallet_response(const Services& services, const store::WalletRow& wallet) {
  return services.flows.read([&](store::Connection& db) {
    return json_response(
        200, wallet_json(wallet, services.flows.network_name, store::balances_of(db, wallet.key)));
  });
}

Result<http::Response> verify_wallet(const Services& services, const Call& call) {
  COFFER_TRY(const WalletId id, funded_wallet_id(call));
  COFFER_TRY(const auto wallet,
             flows::review_wallet(services.flows, call.caller.tenant, id, std::nullopt));
  return wallet_response(services, wallet);
}

Result<http::Response> reject_wallet(const Services& services, const Call& call) {
  COFFER_TRY(const WalletId id, funded_wallet_id(call));
  const http::JsonValue nothing(http::JsonValue::Object{});
  Fields fields(call.body != nullptr ? *call.body : nothing);
  WalletStatusReason reason;
  reason.code = fields.text("code", optional).value_or("sandbox_rejected");
  reason.message = fields.text("message", optional).value_or("Rejected in the sandbox.");
  COFFER_TRY_VOID(fields.check());
  COFFER_TRY(const auto wallet,
             flows::review_wallet(services.flows, call.caller.tenant, id, reason));
  return wallet_response(services, wallet);
}

Result<http::Response> fund_wallet(const Services& services, const Call& call) {
  COFFER_TRY(const WalletId id, funded_wallet_id(call));
  Fields fields(*call.body);
  const auto asset = fields.asset_code("assetCode", required);
  const auto amount = fields.amount("amount", required);
  fields.reject_unknown();
  COFFER_TRY_VOID(fields.check());
  COFFER_TRY(const auto wallet,
             flows::fund_sandbox_wallet(services.flows, call.caller.tenant, id, *asset, *amount));
  return wallet_response(services, wallet);
}

Result<http::Response> decided(const Services& services, const Call& call,
                               std::optional<FailureCode> failure) {
  COFFER_TRY(const auto id, existing(PaymentId::parse(call.param("transactionId")), "transaction"));
  COFFER_TRY(const auto record,
             flows::decide_payment(services.flows, call.caller.tenant, id, failure));
  return json_response(200, record_json(record, call.caller.tenant.environment));
}

Result<http::Response> succeed_transaction(const Services& services, const Call& call) {
  return decided(services, call, std::nullopt);
}

Result<http::Response> fail_transaction(const Services& services, const Call& call) {
  QueryFields query(call.request);
  const auto code = query.term("code", parse_failure_code);
  COFFER_TRY_VOID(query.check());
  return decided(services, call, code.value_or(FailureCode::provider_error));
}

/// Simulates a provider's report of a customer payment.
Result<http::Response> pay_reference(const Services& services, const Call& call) {
  Fields fields(*call.body);
  flows::ReferenceArrival arrival;
  arrival.simulated = true;
  arrival.reference = call.param("reference");
  const auto amount = fields.amount("amount", required);
  const auto currency = fields.asset_code("currencyIsoCode3", optional);
  arrival.payer.name = fields.optional_name("payerName").value_or("Sandbox customer");
  arrival.provider_payment_id =
      fields.text("providerPaymentId", optional, kProviderReferenceMax)
          .value_or("sandbox-" +
                    services.flows.random.id<PaymentId>(services.flows.clock.now()).to_string());
  fields.reject_unknown();
  COFFER_TRY_VOID(fields.check());
  COFFER_TRY(const auto connector, services.flows.read([&](store::Connection& db) {
    const auto row = store::find_own_reference(db, call.caller.tenant, arrival.reference);
    return row ? store::find_connector_by_key(db, row->connector) : std::nullopt;
  }));
  if (!connector) return unexpected(Slug::not_found, "The reference was not found.");
  arrival.amount = amount->to_string(Amount::kScale);
  arrival.currency = currency ? currency->value() : connector->terms.currency;
  COFFER_TRY(const auto payment, flows::accept_reference_payment(services.flows, connector->terms,
                                                                 arrival, call.request.request_id));
  return json_response(202, {{"transactionRecordId", payment.id->to_string()},
                             {"status", "accepted"},
                             {"isIdempotent", payment.known}});
}

}  // namespace

std::vector<Route> sandbox_routes() {
  constexpr RouteGroup kOfWallets{"Sandbox", {}, Scope::wallets_write, Access::sandbox};
  constexpr RouteGroup kOfPayments{"Sandbox", {}, Scope::payments_write, Access::sandbox};
  return {kOfWallets("POST", "/v1/sandbox/wallets/{walletId}/verify", "sandboxVerifyWallet",
                     "Approve a pending wallet", Lane::money, {{200, "Wallet"}}, {Slug::conflict},
                     verify_wallet),
          with_body(kOfWallets("POST", "/v1/sandbox/wallets/{walletId}/reject",
                               "sandboxRejectWallet", "Reject a pending wallet", Lane::money,
                               {{200, "Wallet"}}, {Slug::conflict}, reject_wallet),
                    "WalletRejection", Body::optional_json),
          kOfPayments("POST", "/v1/sandbox/transactions/{transactionId}/succeed",
                      "sandboxSucceedTransaction", "Simulate a successful result from the provider",
                      Lane::money, {{200, "Transaction"}}, {Slug::conflict}, succeed_transaction),
          with_query(
              kOfPayments("POST", "/v1/sandbox/transactions/{transactionId}/fail",
                          "sandboxFailTransaction", "Simulate a failed result from the provider",
                          Lane::money, {{200, "Transaction"}}, {Slug::conflict}, fail_transaction),
              {{"code", "FailureCode", "Failure code; provider_error by default"}}),
          with_body(kOfPayments("POST", "/v1/sandbox/references/{reference}/pay",
                                "sandboxPayReference", "Simulate a customer payment on a reference",
                                Lane::money, {{202, "Acknowledgement"}},
                                {Slug::conflict, Slug::amount_precision, Slug::amount_out_of_range,
                                 Slug::quota_exceeded},
                                pay_reference),
                    "ReferencePayment"),
          with_body(
              kOfWallets("POST", "/v1/sandbox/wallets/{walletId}/fund", "sandboxFundWallet",
                         "Credit a wallet", Lane::money, {{200, "Wallet"}},
                         {Slug::validation_failed, Slug::trustline_missing, Slug::amount_precision,
                          Slug::amount_out_of_range, Slug::quota_exceeded},
                         fund_wallet),
              "WalletFunding")};
}

}  // namespace coffer::api
