#include "api/json/json.h"
#include "api/ledger/wallets.h"
#include "api/pipeline/page.h"
#include "api/pipeline/route_groups.h"
#include "api/pipeline/services.h"
#include "store/ledger/catalog.h"

namespace coffer::api {
namespace {

Result<http::Response> read_asset(const Services& services, const Call& call) {
  return services.flows.read([&](store::Connection& db) -> Result<http::Response> {
    const auto code = AssetCode::parse(call.param("assetCode"));
    const auto asset = code ? store::find_asset(db, *code) : std::nullopt;
    if (!asset) return unexpected(Slug::not_found, "The asset was not found.");
    return json_response(200, asset_json(*asset, services.flows.network_name));
  });
}

}  // namespace

Result<http::Response> list_assets(const Services& services, const Call& call) {
  std::vector<Json> rows;
  COFFER_TRY_VOID(services.flows.read([&](store::Connection& db) {
    for (const Asset& asset : store::list_assets(db)) {
      rows.push_back(asset_json(asset, services.flows.network_name));
    }
    return Result<void>();
  }));
  return short_list_response(services, call, "assets", std::move(rows));
}

std::vector<Route> assets_routes() {
  constexpr RouteGroup kAssets{"Assets", Scope::wallets_read};
  return {with_query(kAssets("GET", "/v1/assets", "listAssets", "List the registered assets",
                             Lane::read, {{200, "AssetList"}}, {}, list_assets),
                     page_query({})),
          kAssets("GET", "/v1/assets/{assetCode}", "getAsset", "Read an asset", Lane::read,
                  {{200, "Asset"}}, {Slug::not_found}, read_asset)};
}

}  // namespace coffer::api
