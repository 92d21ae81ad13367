// GET /v1/transactions: order, times, cursors, errors. For its filters, see list_bounds_test.cpp.
#include <catch2/catch.hpp>

#include "support/scenario.h"
#include "support/test_app.h"

using namespace coffer;
using namespace coffer::test;

namespace transaction_list_test {
namespace {

const std::string kList = "/v1/transactions";
using List = std::vector<std::string>;

/// Four payments a second apart, of all kinds and with two final statuses.
struct World {
  TestApp app;
  std::string a = app.wallet("USDC", "100");
  std::string b = app.wallet("USDC");
  std::string euro = app.wallet("EURC");
  Json first_body = transfer_body(a, b, "1");
  std::string first, multi, swap, last;

  World() {
    const Client& me = app.me();
    me.trustline(a, "EURC");
    app.rate("USDC", "EURC", "0.9");
    first_body["fromRef"] = "REF-A";
    first_body["toRef"] = "REF-B";
    first = pay("/v1/payments/p2p/own", first_body);
    Json legs = multi_body({transfer_body(a, b, "2"), transfer_body(b, a, "1")});
    legs["transfers"][1]["toRef"] = "REF-LEG";
    multi = pay("/v1/payments/p2p/own/multi", legs);
    swap = pay("/v1/payments/swap/own", swap_body(a, euro, "3", "USDC", "EURC"));
    app.settle();  // at second 3; the swap fails for lack of liquidity
    last = pay("/v1/payments/p2p/own", transfer_body(b, a, "1"));
  }
  std::string pay(const char* route, const Json& body) {
    const std::string id = app.me().pay(route, body);
    app.clock.advance_ms(1'000);
    return id;
  }
  List found(const std::string& query) {
    INFO(query);
    return member_of_each(app.me().all(kList + query), "id");
  }
};

}  // namespace

TEST_CASE("records are listed newest first, identical to single reads") {
  World world;
  CHECK(world.found("") == List{world.last, world.swap, world.multi, world.first});
  CHECK(world.found("?status=") == world.found(""));
  const auto rows = world.app.me().all(kList + "?limit=1");
  REQUIRE(rows.size() == 4);
  for (const Json& row : rows) CHECK(row == world.app.me().record(row.at("id")));
}

TEST_CASE("filters by time: createdFrom is inclusive, createdTo exclusive, updatedFrom inclusive") {
  World world;
  // Created at 0, 1, 2 and 3 s; the first three changed at 3 s.
  CHECK(world.found("?createdFrom=2026-01-01T00:00:01Z") ==
        List{world.last, world.swap, world.multi});
  CHECK(world.found("?createdTo=2026-01-01T00:00:01Z") == List{world.first});
  CHECK(world.found("?createdFrom=2026-01-01T00:00:01Z&createdTo=2026-01-01T00:00:02.001Z") ==
        List{world.swap, world.multi});
  // Any offset means the same instant, a date means its midnight.
  CHECK(world.found("?createdFrom=2026-01-01T03:00:02%2B03:00") == List{world.last, world.swap});
  CHECK(world.found("?createdFrom=2026-01-01").size() == 4);
  CHECK(world.found("?createdTo=2026-01-01") == List{});
  CHECK(world.found("?updatedFrom=2026-01-01T00:00:03Z").size() == 4);
  CHECK(world.found("?updatedFrom=2026-01-01T00:00:03.001Z") == List{});
}

TEST_CASE("sorted by updatedAt, the record that changed last comes first") {
  World world;
  world.app.settle();  // the last payment, at second 4
  world.app.clock.advance_ms(1'000);
  const std::string fresh = world.pay("/v1/payments/p2p/own", transfer_body(world.a, world.b, "1"));
  const List changed = world.found("?sort=updatedAt");
  REQUIRE(changed.size() == 5);
  CHECK(changed[0] == fresh);
  CHECK(changed[1] == world.last);
  CHECK(world.found("?sort=createdAt") == world.found(""));
  CHECK(world.found("?sort=updatedAt&limit=2") == changed);
  CHECK(world.found("?sort=updatedAt&status=failed") == List{world.swap});
  CHECK(world.found("?sort=updatedAt&walletId=" + world.euro) == List{world.swap});
  CHECK(world.found("?sort=updatedAt&walletId=" + world.b + "&limit=1").size() == 4);
}

TEST_CASE("a list page is stable while payments arrive") {
  World world;
  const Json first = world.app.me().get(kList + "?limit=2").json();
  world.pay("/v1/payments/p2p/own", transfer_body(world.a, world.b, "1"));
  const Json second =
      world.app.me()
          .get(kList + "?limit=2&cursor=" + first.at("nextCursor").get<std::string>())
          .json();
  CHECK(member_of_each(second.at("data").get<std::vector<Json>>(), "id") ==
        List{world.multi, world.first});
}

TEST_CASE("a cursor of one order or filter is invalid for another") {
  World world;
  const Json first = world.app.me().get(kList + "?limit=1&status=succeeded").json();
  const std::string cursor = "&cursor=" + first.at("nextCursor").get<std::string>();
  CHECK(world.app.me().get(kList + "?limit=1&status=succeeded" + cursor).status == 200);
  for (const std::string& query :
       {std::string("?status=failed"), std::string("?status=succeeded&sort=updatedAt"),
        std::string("?status=succeeded&reference=x"), "?status=succeeded&walletId=" + world.a,
        std::string("?limit=1")}) {
    INFO(query);
    CHECK(world.app.me().get(kList + query + cursor).slug() == "invalid-cursor");
  }
}

TEST_CASE("malformed filters are reported together") {
  TestApp app;
  run_scenarios(
      app.me(),
      {{"unknown words",
        kList + "?status=done&type=p2p&sort=amount",
        "",
        400,
        "malformed-request",
        {"status", "type", "sort"},
        {},
        "GET"},
       {"ids that are none",
        kList + "?walletId=1&beneficiaryId=2&connectorId=3",
        "",
        400,
        "malformed-request",
        {"walletId", "beneficiaryId", "connectorId"},
        {},
        "GET"},
       {"times that are none",
        kList + "?createdFrom=yesterday&createdTo=2026-02-30&updatedFrom=2026-01-01T00:00:00",
        "",
        400,
        "malformed-request",
        {"createdFrom", "createdTo", "updatedFrom"},
        {},
        "GET"},
       {"an invalid code",
        kList + "?assetCode=US%24DC",
        "",
        400,
        "malformed-request",
        {"assetCode"},
        {},
        "GET"},
       {"limit", kList + "?limit=1000", "", 400, "malformed-request", {"limit"}, {}, "GET"}});
}

}  // namespace transaction_list_test
