#include "outbound/wire/resolver.h"

#include <catch2/catch.hpp>

using namespace coffer;
using namespace coffer::outbound;
using Addresses = std::vector<std::string>;

TEST_CASE("numeric addresses are returned as they are") {
  CaresResolver resolver;
  for (const char* text : {"127.0.0.1", "8.8.8.8", "::1", "2001:db8::1", "::ffff:127.0.0.1"}) {
    CHECK(resolver.resolve(text, 100).value() == Addresses{text});
  }
}

TEST_CASE("names that old parsers read as numbers are rejected") {
  CaresResolver resolver;
  for (const char* text : {"2130706433", "0x7f.1", "0177.0.0.1", "127.1", "0", "0x7f000001",
                           "1.2.3.4.5", "a.0x7F", "127.0.0.1.", "1.2.3.256"}) {
    INFO(text);
    const auto result = resolver.resolve(text, 100);
    REQUIRE_FALSE(result);
    CHECK(result.error().slug == Slug::malformed_request);
  }
}

TEST_CASE("an invalid host name is rejected without a query") {
  CaresResolver resolver;
  for (const std::string& text :
       {std::string(), std::string("a b"), std::string("a..b"), std::string(".a"),
        std::string("a/b"), std::string("[::1]"), std::string("user@a"), std::string("a:80"),
        std::string("\xc3\xa4.de"), std::string("a\0b", 3), std::string(254, 'a')}) {
    INFO(text);
    const auto result = resolver.resolve(text, 100);
    REQUIRE_FALSE(result);
    CHECK(result.error().slug == Slug::malformed_request);
  }
}

TEST_CASE("localhost is the loopback") {
  CaresResolver resolver;
  for (const char* text : {"localhost", "LOCALHOST", "localhost.", "api.localhost"}) {
    CHECK(resolver.resolve(text, 100).value() == Addresses{"127.0.0.1", "::1"});
  }
}

TEST_CASE("a nonexistent name gives a Problem in time") {
  CaresResolver resolver;
  const auto result = resolver.resolve("this-name-does-not-exist.invalid", 3'000);
  REQUIRE_FALSE(result);
  CHECK((result.error().slug == Slug::provider_unavailable ||
         result.error().slug == Slug::provider_timeout));
}
