#include "api/ledger/wallets.h"

#include "api/json/fields.h"
#include "api/json/json.h"
#include "api/pipeline/page.h"
#include "api/pipeline/route_groups.h"
#include "api/pipeline/services.h"
#include "flows/ledger/wallet_changes.h"

namespace coffer::api {
namespace {

TextMembers read_metadata(const http::JsonValue& object, ValidationErrors& errors) {
  Fields fields(object, errors, "metadata.");
  TextMembers input;
  read_text(fields, "entityType", input);
  read_texts<PersonMetadata>(fields, input);
  read_texts<BusinessMetadata>(fields, input);
  return input;
}

/// The validated member `metadata`. Adds errors to those of `fields`.
std::optional<Metadata> metadata(Fields& fields, Presence presence, Timestamp today) {
  if (fields.object("metadata", presence) == nullptr) return std::nullopt;
  const TextMembers input = read_metadata(*fields.find("metadata"), fields.errors());
  auto result = validate_metadata(input, today);
  if (result) return *std::move(result);
  for (FieldError& error : result.error().fields) {
    // A member with a wrong JSON type reads as missing; report only the first error.
    if (fields.errors().names(error.field)) continue;
    fields.errors().add(result.error().slug, std::move(error.field), std::move(error.message));
  }
  return std::nullopt;
}

Result<http::Response> wallet_response(const Services& services, int status,
                                       const store::WalletRow& wallet) {
  // Balances are optional (docs/contract.md#wallets): without them, the wallet is still shown.
  std::optional<std::vector<store::WalletBalance>> balances;
  auto read = services.flows.read(
      [&](store::Connection& db) { return store::balances_of(db, wallet.key); });
  if (read) balances = *std::move(read);
  return json_response(status, wallet_json(wallet, services.flows.network_name, balances));
}

Result<WalletId> wallet_id(const Call& call) {
  return existing(WalletId::parse(call.param("walletId")), "wallet");
}

Result<http::Response> list_wallets(const Services& services, const Call& call) {
  QueryFields query(call.request);
  store::WalletFilter filter;
  filter.asset = query.asset_code("assetCode");
  filter.status = query.term("status", parse_term<WalletStatus>);
  const auto network = query.text("networkName");
  COFFER_TRY(const PageRequest page, read_page(services, call, query, "wallets"));
  return services.flows.read([&](store::Connection& db) {
    store::RowPage<store::WalletRow> wallets;
    // There is only one network, so a filter for another finds nothing.
    if (!network || *network == services.flows.network_name) {
      wallets = store::list_wallets(db, call.caller.tenant, filter, page.at);
    }
    return page_response(page, wallets, [&](const store::WalletRow& wallet) {
      return wallet_json(wallet, services.flows.network_name, store::balances_of(db, wallet.key));
    });
  });
}

Result<http::Response> create_wallet(const Services& services, const Call& call) {
  Fields fields(*call.body);
  const auto wanted = read_new_wallet(fields, services.flows.clock.now());
  COFFER_TRY_VOID(fields.check());
  COFFER_TRY(const auto wallet, flows::register_wallet(services.flows, call.caller.tenant, wanted));
  return wallet_response(services, 201, wallet);
}

Result<http::Response> read_wallet(const Services& services, const Call& call) {
  COFFER_TRY(const WalletId id, wallet_id(call));
  std::optional<store::WalletRow> wallet;
  std::optional<std::vector<store::WalletBalance>> balances;
  const auto read = services.flows.read([&](store::Connection& db) -> Result<void> {
    wallet = store::find_wallet(db, call.caller.tenant, id);
    if (!wallet) return unexpected(Slug::not_found, "The wallet was not found.");
    balances = store::balances_of(db, wallet->key);
    return {};
  });
  // Without balances, the wallet is still shown, as in `wallet_response`.
  if (!wallet) return unexpected(read.error());
  return json_response(200, wallet_json(*wallet, services.flows.network_name, balances));
}

Result<http::Response> update_wallet(const Services& services, const Call& call) {
  COFFER_TRY(const WalletId id, wallet_id(call));
  Fields fields(*call.body);
  flows::WalletUpdate update;
  update.name = fields.optional_name("walletName");
  update.metadata = metadata(fields, optional, services.flows.clock.now());
  COFFER_TRY(const Json present, services.flows.read([&](store::Connection& db) -> Result<Json> {
    COFFER_TRY(const auto row, existing(store::find_wallet(db, call.caller.tenant, id), "wallet"));
    return wallet_json(row, services.flows.network_name, std::nullopt);
  }));
  reject_changes(fields, present,
                 {"id", "accountNumber", "publicKey", "networkName", "assetCode", "ownAccount",
                  "status", "createdAt"});
  COFFER_TRY_VOID(fields.check());
  COFFER_TRY(const auto wallet,
             flows::update_wallet(services.flows, call.caller.tenant, id, update));
  return wallet_response(services, 200, wallet);
}

Result<http::Response> create_trustline(const Services& services, const Call& call) {
  COFFER_TRY(const WalletId id, wallet_id(call));
  Fields fields(*call.body);
  const auto asset = fields.asset_code("assetCode", required);
  COFFER_TRY_VOID(fields.check());
  COFFER_TRY(const auto result,
             flows::add_trustline(services.flows, call.caller.tenant, id, *asset));
  return wallet_response(services, result.created ? 201 : 200, result.wallet);
}

}  // namespace

flows::NewWallet read_new_wallet(Fields& fields, Timestamp today) {
  flows::NewWallet out;
  out.name = fields.text("walletName", required).value_or("");
  out.asset = fields.asset_code("assetCode", required).value_or(AssetCode());
  const auto own_account = fields.boolean("ownAccount", optional);
  out.own_account = own_account.value_or(false);
  // An own wallet needs no compliance details, but stores them if given.
  const bool may_be_own = own_account.value_or(fields.find("ownAccount") != nullptr);
  out.metadata = metadata(fields, may_be_own ? optional : required, today);
  return out;
}

std::vector<Route> wallets_routes() {
  constexpr RouteGroup kWallets{"Wallets", Scope::wallets_read, Scope::wallets_write};
  return {
      with_query(
          kWallets("GET", "/v1/wallets", "listWallets", "List wallets with balances", Lane::read,
                   {{200, "WalletList"}}, {}, list_wallets),
          page_query({{"assetCode", "AssetCode", "Only wallets with a trustline for this asset"},
                      {"networkName", "Text", "Only wallets on this network"},
                      {"status", "WalletStatus", "Only wallets with this status"}})),
      with_body(kWallets("POST", "/v1/wallets", "createWallet", "Create a wallet", Lane::money,
                         {{201, "Wallet"}}, {Slug::validation_failed, Slug::quota_exceeded},
                         create_wallet),
                "NewWallet"),
      kWallets("GET", "/v1/wallets/{walletId}", "getWallet", "Read a wallet with its balances",
               Lane::read, {{200, "Wallet"}}, {Slug::not_found}, read_wallet),
      with_body(kWallets("PUT", "/v1/wallets/{walletId}", "updateWallet",
                         "Change a wallet's name or metadata", Lane::money, {{200, "Wallet"}},
                         {Slug::not_found, Slug::validation_failed}, update_wallet),
                "WalletUpdate"),
      with_body(
          kWallets("POST", "/v1/wallets/{walletId}/trustlines", "createTrustline",
                   "Add an asset to a wallet", Lane::money, {{201, "Wallet"}, {200, "Wallet"}},
                   {Slug::not_found, Slug::validation_failed}, create_trustline),
          "NewTrustline")};
}

}  // namespace coffer::api
