#include "http/router.h"

#include <catch2/catch.hpp>

#include "base/check.h"

using namespace coffer;
using namespace coffer::http;
using Kind = RouteMatch::Kind;

namespace {

const std::vector<RoutePattern> kTable{
    {"GET", "/"},
    {"GET", "/v1/wallets"},
    {"POST", "/v1/wallets"},
    {"GET", "/v1/wallets/{walletId}"},
    {"PATCH", "/v1/wallets/{walletId}"},
    {"GET", "/v1/wallets/search"},
    {"GET", "/v1/wallets/{id}/statements/{format}"},
    {"GET", "/v1/wallets/search/x"},
};

}  // namespace

TEST_CASE("routes are found by segments") {
  const Router router(kTable);
  CHECK(router.match("GET", "/").index == 0);
  CHECK(router.match("GET", "/v1/wallets").index == 1);
  CHECK(router.match("POST", "/v1/wallets").index == 2);

  const RouteMatch one = router.match("PATCH", "/v1/wallets/abc");
  CHECK(one.kind == Kind::found);
  CHECK(one.index == 4);
  CHECK(one.params == PathParams{{"walletId", "abc"}});

  const RouteMatch two = router.match("GET", "/v1/wallets/a%20b/statements/csv");
  CHECK(two.index == 6);
  CHECK(two.params == PathParams{{"id", "a b"}, {"format", "csv"}});
}

TEST_CASE("a literal takes precedence over a parameter, but does not hide a longer route") {
  const Router router(kTable);
  CHECK(router.match("GET", "/v1/wallets/search").index == 5);
  CHECK(router.match("GET", "/v1/wallets/search/x").index == 7);
  const RouteMatch match = router.match("GET", "/v1/wallets/search/statements/pdf");
  CHECK(match.index == 6);
  CHECK(match.params == PathParams{{"id", "search"}, {"format", "pdf"}});
}

TEST_CASE("HEAD matches the routes of GET, and other methods are listed") {
  const Router router(kTable);
  CHECK(router.match("HEAD", "/v1/wallets").index == 1);
  const RouteMatch match = router.match("DELETE", "/v1/wallets");
  CHECK(match.kind == Kind::method_not_allowed);
  CHECK(match.allow == "GET, HEAD, OPTIONS, POST");
  CHECK(router.match("OPTIONS", "/v1/wallets").kind == Kind::method_not_allowed);
  CHECK(router.match("get", "/v1/wallets").kind == Kind::method_not_allowed);
  CHECK(router.match("GET", "/v1/wallets").allow == "GET, HEAD, OPTIONS, POST");
}

TEST_CASE("unusual paths match no route") {
  const Router router(kTable);
  for (const char* path :
       {"", "v1", "/v1", "/v1/wallets/", "/v1//wallets", "//", "/v1/wallets/a%2fb",
        "/v1/wallets/a%0ab", "/v1/wallets/%00", "/v1/wallets/%zz", "/v1/wallets/..",
        "/v1/wallets/%2e", "/V1/wallets", "/v1/wallets/a/b", "/v1/wallets/%7f"}) {
    INFO(path);
    CHECK(router.match("GET", path).kind == Kind::not_found);
  }
  CHECK(router.match("GET", "/v1/w%61llets").kind == Kind::found);
}

TEST_CASE("a table with a duplicate route is a programming error") {
  using Table = std::vector<RoutePattern>;
  CHECK_THROWS_AS(Router(Table{{"GET", "/a/{x}"}, {"GET", "/a/{y}"}}), InternalError);
  CHECK_THROWS_AS(Router(Table{{"GET", "a"}}), InternalError);
}

TEST_CASE("percent decoding is exact") {
  std::string out;
  CHECK(percent_decode("a%20b+c", false, out));
  CHECK(out == "a b+c");
  CHECK(percent_decode("a%20b+c%2B", true, out));
  CHECK(out == "a b c+");
  CHECK(percent_decode("%e4%F6", false, out));
  CHECK(out == "\xe4\xf6");
  for (const char* bad : {"%", "%4", "%4g", "%00", "a%"}) {
    INFO(bad);
    CHECK_FALSE(percent_decode(bad, false, out));
  }
}
