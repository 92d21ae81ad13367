// GET /v1/assets: the registry, the same for every tenant.
#include <catch2/catch.hpp>

#include "auth/strkey.h"
#include "support/scenario.h"
#include "support/test_app.h"

using namespace coffer;
using namespace coffer::test;

TEST_CASE("the asset list is complete") {
  TestApp app;
  const Json list = app.me().get("/v1/assets").json();
  REQUIRE(list.at("data").size() == 4);
  CHECK(list.at("hasMore") == false);
  CHECK(list.at("nextCursor").is_null());
  CHECK(list.at("prevCursor").is_null());
  for (const Json& asset : list.at("data")) {
    CHECK(auth::PublicKey::parse(asset.at("issuer").get<std::string>()));
    CHECK(asset.at("networkName") == app.config().network_name);
  }
}

TEST_CASE("one asset is read by its bare code") {
  TestApp app;
  const Json asset = app.me().get("/v1/assets/KES").json();
  CHECK(asset.at("code") == "KES");
  CHECK(asset.at("name") == "Kenyan Shilling");
  CHECK(asset.at("decimals") == 2);
  CHECK(app.me().get("/v1/assets/%4bES").json() == asset);
  // Another tenant sees the same registry.
  CHECK(app.stranger().get("/v1/assets/KES").json() == asset);
}

TEST_CASE("an unregistered code is not found") {
  TestApp app;
  for (const char* code : {"NOPE", "usdc", "USDC:GABC", "TOOLONGCODE123", "%20"}) {
    const Reply reply = app.me().get("/v1/assets/" + std::string(code));
    INFO(code);
    CHECK(reply.status == 404);
    CHECK(reply.slug() == "not-found");
  }
}
