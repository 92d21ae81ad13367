#include "cli/commands/healthcheck.h"

#include <catch2/catch.hpp>

using namespace coffer::cli;

TEST_CASE("an address is taken apart", "[cli]") {
  const auto plain = parse_health_url("http://127.0.0.1:8080/healthz");
  REQUIRE(plain);
  CHECK_FALSE(plain->tls);
  CHECK(plain->host == "127.0.0.1");
  CHECK(plain->port == 8080);
  CHECK(plain->target == "/healthz");

  const auto bare = parse_health_url("https://pay.example.com");
  REQUIRE(bare);
  CHECK(bare->tls);
  CHECK(bare->host == "pay.example.com");
  CHECK(bare->port == 443);
  CHECK(bare->target == "/");

  const auto v6 = parse_health_url("http://[::1]:81/a?b=c#d");
  REQUIRE(v6);
  CHECK(v6->host == "::1");
  CHECK(v6->port == 81);
  CHECK(v6->target == "/a?b=c");

  CHECK(parse_health_url("http://[::1]/x")->port == 80);
  CHECK(parse_health_url("http://a?q")->target == "/?q");
}

TEST_CASE("what is no address is refused", "[cli]") {
  for (const char* text :
       {"", "127.0.0.1:8080", "ftp://a/", "http://", "http:///x", "http://:80/", "http://a:/",
        "http://a:0/", "http://a:65536/", "http://a:8x/", "http://u:p@a/", "http://[::1/",
        "http://[::1]x/", "http://a b/", "http://a/ b", "http://a/\r\nX: y", "http://a/\x7f"}) {
    INFO(text);
    CHECK_FALSE(parse_health_url(text));
  }
}
