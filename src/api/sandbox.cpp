#include "api/sandbox.h"

#include "api/json.h"
#include "api/pipeline/fields.h"
#include "api/pipeline/services.h"
#include "flows/wallet_changes.h"

namespace coffer::api {
namespace {

Result<WalletId> wallet_id(const Call& call) {
  const auto id = WalletId::parse(call.param("walletId"));
  if (!id) return unexpected(Slug::not_found, "There is no such wallet.");
  return *id;
}

Result<http::Response> wallet_response(const Services& services, const store::WalletRow& wallet) {
  return store::with_reader(
      services.flows.database, [&](store::Connection& db) -> Result<http::Response> {
        return json_response(200, wallet_json(wallet, services.flows.network_name,
                                              store::balances_of(db, wallet.key)));
      });
}

Result<http::Response> verify_wallet(const Services& services, const Call& call) {
  COFFER_TRY(const WalletId id, wallet_id(call));
  COFFER_TRY(const auto wallet,
             flows::review_wallet(services.flows, call.caller.tenant, id, std::nullopt));
  return wallet_response(services, wallet);
}

Result<http::Response> reject_wallet(const Services& services, const Call& call) {
  COFFER_TRY(const WalletId id, wallet_id(call));
  Faults faults;
  Fields fields(*call.body, faults);
  WalletStatusReason reason;
  reason.code = fields.text("code", optional).value_or("sandbox_rejected");
  reason.message = fields.text("message", optional).value_or("Rejected in the sandbox.");
  COFFER_TRY_VOID(check(faults));
  COFFER_TRY(const auto wallet,
             flows::review_wallet(services.flows, call.caller.tenant, id, reason));
  return wallet_response(services, wallet);
}

Result<http::Response> fund_wallet(const Services& services, const Call& call) {
  COFFER_TRY(const WalletId id, wallet_id(call));
  Faults faults;
  Fields fields(*call.body, faults);
  const auto asset = fields.asset_code("assetCode", required);
  const auto amount = fields.amount("amount", required);
  fields.refuse_unknown({"assetCode", "amount"});
  COFFER_TRY_VOID(check(faults));
  COFFER_TRY(const auto wallet,
             flows::fund_wallet(services.flows, call.caller.tenant, id, *asset, *amount));
  return wallet_response(services, wallet);
}

Route action(std::string_view pattern, std::string_view operation, std::string_view summary,
             std::string_view schema, std::vector<Answer> answers, Handler handler) {
  return {.method = "POST",
          .pattern = pattern,
          .operation = operation,
          .tag = "Sandbox",
          .summary = summary,
          .access = Access::sandbox,
          .scope = Scope::wallets_write,
          .body = schema.empty() ? Body::none : Body::json,
          .request_schema = schema,
          .answers = std::move(answers),
          .handler = handler};
}

}  // namespace

std::vector<Route> sandbox_routes() {
  return {action("/v1/sandbox/wallets/{walletId}/verify", "sandboxVerifyWallet",
                 "Let the review of a wallet pass", {}, {{200, "Wallet"}, {409}}, verify_wallet),
          action("/v1/sandbox/wallets/{walletId}/reject", "sandboxRejectWallet",
                 "Let the review of a wallet fail", "WalletRejection",
                 {{200, "Wallet"}, {409}}, reject_wallet),
          action("/v1/sandbox/wallets/{walletId}/fund", "sandboxFundWallet",
                 "Credit a wallet out of nothing", "WalletFunding",
                 {{200, "Wallet"}, {422}}, fund_wallet)};
}

}  // namespace coffer::api
