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
  return {{.method = "GET",
           .pattern = "/v1/assets",
           .operation = "listAssets",
           .tag = "Assets",
           .summary = "List the registered assets",
           .lane = Lane::read,
           .scope = Scope::wallets_read,
           .query = page_query({}),
           .responses = {{200, "AssetList"}},
           .handler = list_assets},
          {.method = "GET",
           .pattern = "/v1/assets/{assetCode}",
           .operation = "getAsset",
           .tag = "Assets",
           .summary = "Read an asset",
           .lane = Lane::read,
           .scope = Scope::wallets_read,
           .responses = {{200, "Asset"}},
           .problems = {Slug::not_found},
           .handler = read_asset}};
}

}  // namespace coffer::api
