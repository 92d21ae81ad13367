#include "outbound/wire/url.h"

#include <catch2/catch.hpp>

using namespace coffer::outbound;

TEST_CASE("addresses are parsed") {
  struct Case {
    const char* text;
    bool tls;
    const char* host;
    int port;
    const char* target;
  };
  for (const Case& c :
       {Case{"https://pay.example", true, "pay.example", 443, "/"},
        Case{"http://pay.example/", false, "pay.example", 80, "/"},
        Case{"http://127.0.0.1:8090/a/b", false, "127.0.0.1", 8090, "/a/b"},
        Case{"https://[::1]:8443?x=1", true, "::1", 8443, "/?x=1"},
        Case{"http://[::1]/x", false, "::1", 80, "/x"},
        Case{"https://[2001:db8::1]/p?q=1#f", true, "2001:db8::1", 443, "/p?q=1"}}) {
    INFO(c.text);
    const auto url = parse_url(c.text);
    REQUIRE(url);
    CHECK(url->tls == c.tls);
    CHECK(url->host == c.host);
    CHECK(url->port == c.port);
    CHECK(url->target() == c.target);
  }
}

TEST_CASE("a URL is protected by TLS, or because it is on this machine") {
  for (const char* text :
       {"https://pay.example", "http://127.0.0.1:9", "http://[::1]", "http://localhost/x",
        "http://LOCALHOST:25", "http://localhost.", "http://mail.localhost", "http://[0:0::0:1]",
        "http://[::ffff:127.0.0.1]"}) {
    INFO(text);
    CHECK(parse_url(text)->is_protected());
  }
  for (const char* text : {"http://pay.example", "http://127.0.0.2", "http://localhost.example",
                           "http://notlocalhost", "http://[::2]"}) {
    INFO(text);
    CHECK_FALSE(parse_url(text)->is_protected());
  }
}

TEST_CASE("an invalid address is rejected") {
  for (const char* text :
       {"", "pay.example", "ftp://pay.example", "http://", "http:///path", "https://:443",
        "https://a:0", "https://a:65536", "https://a:x", "https://a:", "https://user@a",
        "https://user:word@a/", "https://[::1", "https://[::1]x", "https://a b", "https://a/\n",
        "https://\xc3\xa4.example", "HTTPS://a",
        // Brackets are only for IPv6, and a name has no other characters.
        "https://[pay.example]", "https://[[::1]", "https://[127.0.0.1]", "https://a]",
        "https://a[b", "https://a\\@b", "https://a%2fb", "https://a\"b", "https://a<b",
        "https://[fe80::1%25lo]"}) {
    INFO(text);
    CHECK_FALSE(parse_url(text));
  }
}
