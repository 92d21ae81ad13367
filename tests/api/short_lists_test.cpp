// Lists that are short by their nature page like all others (docs/contract.md#collections).
#include <catch2/catch.hpp>

#include "api/about/openapi.h"
#include "flows/ledger/market_changes.h"
#include "route_samples.h"

using namespace coffer;
using namespace coffer::test;

namespace short_lists_test {
namespace {

/// Every GET that responds with a collection, by its schema.
std::vector<const api::Route*> lists() {
  const Json schemas = Json::parse(api::openapi_schemas().dump());
  std::vector<const api::Route*> out;
  for (const api::Route& route : api::routes()) {
    if (route.method != "GET" || route.responses.front().schema.empty()) continue;
    const Json& schema = schemas.at(std::string(route.responses.front().schema));
    const Json members = schema.value("properties", Json::object());
    if (members.contains("data") && members.contains("prevCursor")) out.push_back(&route);
  }
  return out;
}

}  // namespace

TEST_CASE("collections: every list takes limit and cursor, and its pages join to the whole") {
  TestApp app;
  Names mine = belongings_of(app, app.me());
  add_payment_samples(app, app.me(), mine);
  int paged = 0;
  for (const api::Route* route : lists()) {
    INFO(route->operation);
    HttpCall call = sample_of(*route).call(mine);
    const std::string target = call.target;
    const auto page = [&](const std::string& query) {
      call.target = query.empty() ? target : with_query(target, query);
      const Reply reply = app.me().send(call);
      INFO(reply.text());
      REQUIRE(reply.status == 200);
      return reply.json();
    };
    const Json whole = page("limit=100");
    CHECK(page("cursor=") == page(""));
    std::vector<Json> joined;
    Json last = page("limit=1");
    for (;; last = page("limit=1&cursor=" + last.at("nextCursor").get<std::string>())) {
      REQUIRE(last.at("data").size() <= 1);
      for (const Json& row : last.at("data")) joined.push_back(row);
      CHECK(last.at("hasMore") == last.at("nextCursor").is_string());
      if (!last.at("hasMore").get<bool>()) break;
    }
    CHECK(joined == whole.at("data").get<std::vector<Json>>());
    if (joined.size() > 1) {
      ++paged;
      const Json back = page("limit=1&cursor=" + last.at("prevCursor").get<std::string>());
      CHECK(back.at("data").at(0) == joined.at(joined.size() - 2));
      CHECK(back.at("hasMore") == true);
    }
    for (const char* wrong : {"limit=0", "limit=101", "limit=x", "cursor=nonsense"}) {
      call.target = with_query(target, wrong);
      CHECK(app.me().send(call).status == 400);
    }
  }
  CHECK(paged >= 5);
}

TEST_CASE(
    "collections: a short list without a limit is complete, and a cursor fits only its list") {
  TestApp app;
  for (int i = 0; i < 30; ++i) {
    const std::string code = {'A', static_cast<char>('A' + i / 10),
                              static_cast<char>('A' + i % 10)};
    flows::register_asset(app.flows(), {code, code, 2, ""}).value();
  }
  const Json all = app.me().get("/v1/assets").json();
  CHECK(all.at("data").size() >= 30);
  CHECK(all.at("hasMore") == false);
  const Json first = app.me().get("/v1/assets?limit=5").json();
  const std::string cursor = first.at("nextCursor");
  const Json rest = app.me().get("/v1/assets?cursor=" + cursor).json();
  CHECK(first.at("data").size() + rest.at("data").size() == all.at("data").size());
  CHECK(app.me().get("/v1/quotas?limit=5&cursor=" + cursor).slug() == "invalid-cursor");
  const Reply page = app.me().get("/v1/assets?limit=5");
  CHECK(page.header("Link").find("rel=\"next\"") != std::string::npos);
}

}  // namespace short_lists_test
