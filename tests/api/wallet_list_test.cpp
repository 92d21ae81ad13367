// GET /v1/wallets: order, filters, and cursors in both directions; the rules of every collection.
#include <algorithm>
#include <catch2/catch.hpp>

#include "support/connectors.h"
#include "support/scenario.h"
#include "support/test_app.h"

using namespace coffer;
using namespace coffer::test;

namespace wallet_list_test {
namespace {

const std::string kWallets = "/v1/wallets";

std::vector<std::string> ids_of(const Json& page) {
  return member_of_each(page.at("data").get<std::vector<Json>>(), "id");
}

std::vector<std::string> make_wallets(TestApp& app, int count) {
  std::vector<std::string> newest_first;
  for (int i = 0; i < count; ++i) newest_first.insert(newest_first.begin(), app.wallet("USDC"));
  return newest_first;
}

void check_invalid_cursor(const Reply& reply) {
  INFO(reply.text());
  CHECK(reply.status == 400);
  CHECK(reply.slug() == "invalid-cursor");
  CHECK(reply.fields() == std::vector<std::string>{"cursor"});
}

}  // namespace

TEST_CASE("wallets are listed newest first, with their balances") {
  TestApp app;
  const auto ids = make_wallets(app, 3);
  app.me().fund(ids[0], "USDC", "5");
  const Json page = app.me().get(kWallets).json();
  CHECK(ids_of(page) == ids);
  CHECK(page.at("hasMore") == false);
  CHECK(page.at("nextCursor").is_null());
  CHECK(page.at("prevCursor").is_null());
  CHECK(page.at("data")[0] == app.me().get(kWallets + "/" + ids[0]).json());
  CHECK(page.at("data")[0].at("balances")[0].at("balance") == "5.00");
}

TEST_CASE("an empty list is also a page") {
  TestApp app;
  CHECK(app.me().get(kWallets).json() == Json{{"data", Json::array()},
                                              {"hasMore", false},
                                              {"nextCursor", nullptr},
                                              {"prevCursor", nullptr}});
}

TEST_CASE("cursors lead through the wallet list in both directions") {
  TestApp app;
  const auto ids = make_wallets(app, 5);
  const auto page = [&](const Json& cursor) {
    const std::string tail = cursor.is_null() ? "" : "&cursor=" + cursor.get<std::string>();
    return app.me().get(kWallets + "?limit=2" + tail).json();
  };
  const Json first = page(nullptr);
  CHECK(ids_of(first) == std::vector<std::string>{ids[0], ids[1]});
  CHECK(first.at("hasMore") == true);
  CHECK(first.at("prevCursor").is_null());
  const Json second = page(first.at("nextCursor"));
  CHECK(ids_of(second) == std::vector<std::string>{ids[2], ids[3]});
  CHECK(second.at("hasMore") == true);
  const Json third = page(second.at("nextCursor"));
  CHECK(ids_of(third) == std::vector<std::string>{ids[4]});
  CHECK(third.at("hasMore") == false);
  CHECK(third.at("nextCursor").is_null());
  const Json back = page(third.at("prevCursor"));
  CHECK(ids_of(back) == ids_of(second));
  CHECK(back.at("hasMore") == true);
  const Json start = page(back.at("prevCursor"));
  CHECK(ids_of(start) == ids_of(first));
  CHECK(start.at("prevCursor").is_null());
  CHECK(ids_of(page(start.at("nextCursor"))) == ids_of(second));
}

TEST_CASE("a page is stable while wallets are added") {
  TestApp app;
  const auto ids = make_wallets(app, 4);
  const Json first = app.me().get(kWallets + "?limit=2").json();
  make_wallets(app, 3);
  const Json second =
      app.me()
          .get(kWallets + "?limit=2&cursor=" + first.at("nextCursor").get<std::string>())
          .json();
  CHECK(ids_of(second) == std::vector<std::string>{ids[2], ids[3]});
  CHECK(app.me().all(kWallets + "?limit=3").size() == 7);
}

TEST_CASE("the Link header contains the next page with the requested prefix") {
  TestApp app;
  make_wallets(app, 3);
  for (const std::string& path : {kWallets, "/gw" + kWallets}) {
    const Reply first = app.me().get(path + "?limit=2&assetCode=USDC");
    const std::string link = first.header("Link");
    INFO(link);
    REQUIRE(link.starts_with("<" + path + "?"));
    REQUIRE(link.ends_with(">; rel=\"next\""));
    const Reply next = app.me().get(link.substr(1, link.find('>') - 1));
    CHECK(next.status == 200);
    CHECK(next.json().at("data").size() == 1);
    CHECK_FALSE(next.has_header("Link"));
  }
}

TEST_CASE("a cursor belongs to its list, its filters and its tenant") {
  TestApp app;
  make_wallets(app, 3);
  const Json first = app.me().get(kWallets + "?limit=1&assetCode=USDC").json();
  const std::string cursor = first.at("nextCursor");
  const auto with = [&](const std::string& target) {
    return app.me().get(target + "&cursor=" + cursor);
  };
  CHECK(with(kWallets + "?assetCode=USDC").status == 200);
  CHECK(with(kWallets + "?limit=3&assetCode=USDC").status == 200);
  check_invalid_cursor(with(kWallets + "?assetCode=EURC"));
  check_invalid_cursor(with(kWallets + "?limit=1"));
  check_invalid_cursor(with(kWallets + "?assetCode=USDC&status=Verified"));
  check_invalid_cursor(with("/v1/transactions?assetCode=USDC"));
  check_invalid_cursor(app.stranger().get(kWallets + "?assetCode=USDC&cursor=" + cursor));
  check_invalid_cursor(app.production().get(kWallets + "?assetCode=USDC&cursor=" + cursor));
}

TEST_CASE("a modified cursor is rejected") {
  TestApp app;
  make_wallets(app, 3);
  const std::string cursor = app.me().get(kWallets + "?limit=1").json().at("nextCursor");
  for (std::size_t i = 0; i < cursor.size(); ++i) {
    std::string other = cursor;
    other[i] = other[i] == 'Q' ? 'R' : 'Q';
    INFO(other);
    check_invalid_cursor(app.me().get(kWallets + "?cursor=" + other));
  }
  for (const std::string& bad : {std::string("x"), cursor + "A", cursor.substr(1),
                                 std::string("%20"), std::string("MTIz"), std::string(1000, 'A')}) {
    check_invalid_cursor(app.me().get(kWallets + "?cursor=" + bad));
  }
}

TEST_CASE("limit is a whole number from 1 to 100, 20 without it") {
  TestApp app;
  make_wallets(app, 21);
  CHECK(app.me().get(kWallets).json().at("data").size() == 20);
  CHECK(app.me().get(kWallets + "?limit=1").json().at("data").size() == 1);
  CHECK(app.me().get(kWallets + "?limit=100").json().at("data").size() == 21);
  for (const char* limit :
       {"0", "101", "-1", "1.5", "1e1", "ten", "99999999999999999999", "%201"}) {
    const Reply reply = app.me().get(kWallets + "?limit=" + limit);
    INFO(limit);
    CHECK(reply.status == 400);
    CHECK(reply.slug() == "malformed-request");
    CHECK(reply.fields() == std::vector<std::string>{"limit"});
  }
}

TEST_CASE("filters of the wallet list") {
  TestApp app;
  const std::string usdc = app.wallet("USDC");
  const std::string both = app.wallet("EURC");
  app.me().trustline(both, "USDC");
  const std::string pending = app.me().third_party_wallet("KES");
  using List = std::vector<std::string>;
  const auto found = [&](const std::string& query) {
    return member_of_each(app.me().all(kWallets + query), "id");
  };
  CHECK(found("?assetCode=USDC") == List{both, usdc});
  CHECK(found("?assetCode=EURC") == List{both});
  CHECK(found("?assetCode=JPY") == List{});
  CHECK(found("?assetCode=NOPE") == List{});
  CHECK(found("?networkName=COFFER") == List{pending, both, usdc});
  CHECK(found("?networkName=Stellar") == List{});
  CHECK(found("?status=Pending") == List{pending});
  CHECK(found("?status=Verified&assetCode=USDC") == List{both, usdc});
  run_scenarios(app.me(), {{"bad code",
                            kWallets + "?assetCode=US-DC",
                            "",
                            400,
                            "malformed-request",
                            {"assetCode"},
                            {},
                            "GET"},
                           {"bad status",
                            kWallets + "?status=verified",
                            "",
                            400,
                            "malformed-request",
                            {"status"},
                            {},
                            "GET"},
                           {"all faults at once",
                            kWallets + "?status=x&limit=0&assetCode=*",
                            "",
                            400,
                            "malformed-request",
                            {"assetCode", "limit", "status"},
                            {},
                            "GET"}});
}

TEST_CASE("a list shows only the caller's tenant") {
  TestApp app;
  const Client other = app.stranger();
  const auto mine = make_wallets(app, 2);
  const std::string theirs = other.wallet("USDC");
  CHECK(member_of_each(app.me().all(kWallets), "id") == mine);
  CHECK(member_of_each(other.all(kWallets), "id") == std::vector<std::string>{theirs});
  // Another application of the same association and environment sees the same.
  const Client sibling(app, app.register_application(app.association()));
  CHECK(member_of_each(sibling.all(kWallets), "id") == mine);
}

// The clock stands still, so all entries of a list have the same time.
TEST_CASE("entries of the same millisecond are ordered by ID in every collection") {
  TestApp app;
  const auto wallets = make_wallets(app, 12);
  app.me().fund(wallets[0], "USDC", "5");
  Json people = Json::array();
  for (int i = 0; i < 12; ++i) {
    app.me().pay("/v1/payments/p2p/own", transfer_body(wallets[0], wallets[1], "0.01"));
    people.push_back({{"individual", {{"firstName", "Amina"}, {"lastName", "Otieno"}}}});
    add_connector(app);
  }
  REQUIRE(app.me().post("/v1/beneficiaries/bulk", {{"beneficiaries", people}}).status == 200);
  for (const char* list :
       {"/v1/wallets", "/v1/transactions", "/v1/beneficiaries", "/v1/connectors"}) {
    INFO(list);
    const auto ids = member_of_each(app.me().all(std::string(list) + "?limit=5"), "id");
    CHECK(ids.size() >= 12);
    CHECK(std::is_sorted(ids.rbegin(), ids.rend()));
  }
}

}  // namespace wallet_list_test
