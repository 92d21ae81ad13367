// Unknown and repeated query parameters are rejected on every integrator route, generated from the
// route table.
#include <catch2/catch.hpp>

#include "route_samples.h"

using namespace coffer;
using namespace coffer::test;

namespace query_parameters_test {
namespace {

using Catch::Matchers::Contains;

struct World {
  TestApp app;
  Names mine = belongings_of(app, app.me());

  Reply with(const api::Route& route, const std::string& parameter) const {
    Sample sample = sample_of(route);
    sample.target = with_query(sample.target, parameter);
    return app.me().send(sample.call(mine));
  }
};

bool takes_any(const api::Route& route) { return route.access == api::Access::open; }

}  // namespace

TEST_CASE("an unknown query parameter is 400 on every route and is named") {
  World world;
  for (const api::Route& route : api::routes()) {
    if (takes_any(route)) continue;
    INFO(route.operation);
    const Reply reply = world.with(route, "colour=red");
    INFO(reply.text());
    CHECK(reply.status == 400);
    CHECK_THAT(reply.body, Contains("colour is not a query parameter of this route"));
    if (!route.envelope) CHECK(reply.fields() == std::vector<std::string>{"colour"});
    if (route.query.empty()) CHECK_THAT(reply.body, Contains("it accepts none"));
    for (const api::QueryParam& known : route.query) {
      CHECK_THAT(reply.body, Contains("`" + std::string(known.name) + "`"));
    }
  }
}

TEST_CASE("a misspelled query parameter gets a suggestion") {
  World world;
  int misspelled = 0;
  for (const api::Route& route : api::routes()) {
    if (takes_any(route)) continue;
    for (const api::QueryParam& known : route.query) {
      const std::string name(known.name);
      if (name.size() < 2) continue;
      const std::string wrong = name + "s";
      const Reply reply = world.with(route, wrong + "=1");
      INFO(route.operation << " " << reply.text());
      CHECK(reply.status == 400);
      CHECK_THAT(reply.body, Contains("the nearest is `" + name + "`"));
      ++misspelled;
    }
  }
  CHECK(misspelled > 50);
}

TEST_CASE(
    "query parameters: names are case-sensitive, and all unknown ones are reported together") {
  TestApp app;
  const std::string wallet = app.wallet("USDC", "1"), other = app.wallet("USDC");
  run_scenarios(app.me(),
                {{"case counts",
                  "/v1/wallets?Limit=5",
                  "",
                  400,
                  "malformed-request",
                  {"Limit"},
                  {"`limit`"},
                  "GET"},
                 {"two unknown",
                  "/v1/wallets?limit=5&page=2&perPage=3",
                  "",
                  400,
                  "malformed-request",
                  {"page", "perPage"},
                  {},
                  "GET"},
                 {"a dry run by a query moves no money",
                  "/v1/payments/p2p/own?validateOnly=true",
                  transfer_body(wallet, other, "1").dump(),
                  400,
                  "malformed-request",
                  {"validateOnly"}},
                 {"a format by a query",
                  "/v1/statements/transactions?format=csv&walletId=" + wallet +
                      "&assetCode=USDC&startDate=2026-01-01&endDate=2026-01-02",
                  "",
                  400,
                  "malformed-request",
                  {"format"},
                  {},
                  "GET"},
                 {"repeated",
                  "/v1/wallets?limit=5&limit=6",
                  "",
                  400,
                  "malformed-request",
                  {"limit"},
                  {},
                  "GET"},
                 {"a parameter without a name",
                  "/v1/wallets?=5",
                  "",
                  400,
                  "malformed-request",
                  {"query"},
                  {},
                  "GET"},
                 {"under the second mount",
                  "/gw/v1/wallets?page=2",
                  "",
                  400,
                  "malformed-request",
                  {"page"},
                  {},
                  "GET"},
                 {"no parameter at all", "/v1/wallets?", "", 200, "", {}, {}, "GET"},
                 {"known ones", "/v1/wallets?limit=5&assetCode=USDC", "", 200, "", {}, {}, "GET"}});
  CHECK(app.me().all("/v1/transactions").empty());
}

TEST_CASE(
    "identity is checked before query parameters, and a sandbox route is still 404 in production") {
  TestApp app;
  CHECK(app.anonymous().get("/v1/wallets?page=2").status == 401);
  CHECK(app.production().post("/v1/sandbox/quotes/x/expire?page=2", Json::object()).status == 404);
}

TEST_CASE("routes for browsers, probes and providers accept any query parameter") {
  World world;
  for (const api::Route& route : api::routes()) {
    if (!takes_any(route)) continue;
    const Reply reply = world.with(route, "v=2");
    INFO(route.operation << " " << reply.text().substr(0, 300));
    CHECK(reply.status != 400);
  }
}

TEST_CASE("a query that is not UTF-8 is 400 on every route with parameters") {
  World world;
  for (const api::Route& route : api::routes()) {
    if (takes_any(route) || route.query.empty()) continue;
    const Reply reply = world.with(route, std::string(route.query.front().name) + "=%FF");
    INFO(route.operation << " " << reply.text().substr(0, 300));
    CHECK(reply.status == 400);
    CHECK_THAT(reply.text(), Contains("invalid UTF-8"));
  }
}

TEST_CASE("stock SEP-10 clients can send their domain") {
  TestApp app;
  const std::string challenge =
      "/v1/public/auth-connect?account=" + app.me().credentials().public_key;
  CHECK(app.anonymous().get(challenge + "&client_domain=wallet.example").status == 200);
}

}  // namespace query_parameters_test
