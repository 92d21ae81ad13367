// The address for which a failed login counts (docs/tls.md): the peer, or a trusted proxy's client.
#include "http/client_address.h"

#include <catch2/catch.hpp>

using namespace coffer::http;

namespace {

struct Case {
  std::string peer;
  std::vector<std::string> forwarded_for;
  std::string client;
};

}  // namespace

TEST_CASE("the client's address is the last one that is not a trusted proxy, else the peer's") {
  const auto sample = GENERATE(values<Case>({
      {"203.0.113.9", {}, "203.0.113.9"},
      {"127.0.0.1", {}, "127.0.0.1"},
      {"127.0.0.1", {"198.51.100.7"}, "198.51.100.7"},
      {"127.0.0.3", {" 198.51.100.7\t"}, "198.51.100.7"},
      {"::1", {"2001:db8::7"}, "2001:db8::7"},
      {"::ffff:127.0.0.1", {"2001:db8::7"}, "2001:db8::7"},
      // The client's own values come first, in the same header or in a separate one.
      {"127.0.0.1", {"192.0.2.1, 198.51.100.7"}, "198.51.100.7"},
      {"127.0.0.1", {"192.0.2.1", "198.51.100.7"}, "198.51.100.7"},
      // Ignored from other peers, which could forge it.
      {"203.0.113.9", {"198.51.100.7"}, "203.0.113.9"},
      {"127.0.0.1", {""}, "127.0.0.1"},
      {"127.0.0.1", {"", " , "}, "127.0.0.1"},
      {"127.0.0.1", {"198.51.100.7,"}, "198.51.100.7"},
      {"127.0.0.1", {"198.51.100.7", ""}, "198.51.100.7"},
      // Every usual spelling of an address.
      {"127.0.0.1", {"198.51.100.7:5050"}, "198.51.100.7"},
      {"127.0.0.1", {"[2001:db8::7]"}, "2001:db8::7"},
      {"127.0.0.1", {"[2001:DB8:0:0::7]:443"}, "2001:db8::7"},
      {"127.0.0.1", {"\"[2001:db8::7]:443\""}, "2001:db8::7"},
      {"127.0.0.1", {"2001:db8::0007"}, "2001:db8::7"},
      {"127.0.0.1", {"fe80::7%eth0"}, "fe80::7"},
      {"127.0.0.1", {"[fe80::7%25eth0]:80"}, "fe80::7"},
      {"127.0.0.1", {"::ffff:198.51.100.7"}, "198.51.100.7"},
      {"127.0.0.1", {"::FFFF:198.51.100.7"}, "198.51.100.7"},
      {"127.0.0.1", {"::ffff:c633:6407"}, "198.51.100.7"},
      {"127.0.0.1", {"[::FFFF:198.51.100.7]:1"}, "198.51.100.7"},
      {"127.0.0.1", {"192.0.2.1:1, 198.51.100.7:2, 10.1.2.3:3"}, "198.51.100.7"},
      {"127.0.0.1", {"198.51.100.7", "[::ffff:10.1.2.3]:80", "10.1.9.9:1"}, "198.51.100.7"},
      {"::FFFF:127.0.0.1", {"198.51.100.7"}, "198.51.100.7"},
      // Without an address, the client is neither the proxy nor whom the client claims to be.
      {"127.0.0.1", {"unknown"}, "unknown"},
      {"127.0.0.1", {"_hidden"}, "unknown"},
      {"127.0.0.1", {"192.0.2.1, unknown"}, "unknown"},
      {"127.0.0.1", {"192.0.2.1", "198.51.100.7:"}, "unknown"},
      {"127.0.0.1", {"198.51.100.7:50a"}, "unknown"},
      {"127.0.0.1", {"[2001:db8::7"}, "unknown"},
      {"127.0.0.1", {"[2001:db8::7]443"}, "unknown"},
      {"127.0.0.1", {"["}, "unknown"},
      {"127.0.0.1", {"[]"}, "unknown"},
      {"127.0.0.1", {":"}, "unknown"},
      {"127.0.0.1", {"198.51.100.7 198.51.100.8"}, "unknown"},
      {"127.0.0.1", {"198.51.100.007"}, "unknown"},
      // Through two trusted proxies, and an untrusted one.
      {"127.0.0.1", {"198.51.100.7, 10.1.2.3"}, "198.51.100.7"},
      {"10.1.2.3", {"192.0.2.1, 198.51.100.7, 127.0.0.1"}, "198.51.100.7"},
      {"127.0.0.1", {"198.51.100.7, 10.2.0.1"}, "10.2.0.1"},
      {"127.0.0.1", {"198.51.100.7, unknown, 10.1.2.3"}, "unknown"},
  }));
  Request request;
  request.peer = sample.peer;
  for (const auto& value : sample.forwarded_for)
    request.headers.emplace_back("x-forwarded-for", value);
  CAPTURE(sample.peer, sample.forwarded_for);
  const TrustedProxies proxies(
      coffer::AddressList::parse({"127.0.0.0/8", "::1", "10.1.0.0/16"}).value());
  CHECK(proxies.client_address(request) == sample.client);
  CHECK(TrustedProxies().client_address(request) == sample.peer);
  CHECK(is_forwarded(request) != sample.forwarded_for.empty());
}

TEST_CASE("scheme and host are those of the client's own connection, from every form of a list") {
  struct Lists {
    std::vector<std::string> forwarded_for;
    std::vector<std::string> proto;
    std::vector<std::string> host;
    bool tls;
    std::string client_host;
  };
  const auto sample = GENERATE(values<Lists>({
      {{}, {}, {}, false, "inner:8080"},
      {{}, {"https"}, {"pay.example"}, true, "pay.example"},
      {{}, {" HTTPS "}, {"pay.example:8443"}, true, "pay.example:8443"},
      {{}, {"http"}, {}, false, "inner:8080"},
      {{}, {"https,http"}, {"pay.example, proxy"}, true, "pay.example"},
      {{}, {"https", "http"}, {"pay.example", "proxy"}, true, "pay.example"},
      {{}, {"", "https"}, {",pay.example"}, true, "pay.example"},
      {{"198.51.100.7"}, {"https, http"}, {"pay.example, proxy"}, true, "pay.example"},
      {{"198.51.100.7, 10.1.2.3"}, {"https, http"}, {"pay.example, proxy"}, true, "pay.example"},
      {{"198.51.100.7, 10.1.2.3"}, {"https"}, {"pay.example"}, true, "pay.example"},
      // Proxies that extend all lists show which entry the client has forged.
      {{"192.0.2.1, 198.51.100.7"},
       {"https, http"},
       {"evil.example, pay.example"},
       false,
       "pay.example"},
      {{"192.0.2.1", "198.51.100.7", "10.1.2.3"}, {"http, https, http"}, {}, true, "inner:8080"},
  }));
  Request request;
  request.headers = {{"Host", "inner:8080"}};
  for (const auto& value : sample.forwarded_for)
    request.headers.emplace_back("X-Forwarded-For", value);
  for (const auto& value : sample.proto) request.headers.emplace_back("x-forwarded-proto", value);
  for (const auto& value : sample.host) request.headers.emplace_back("X-FORWARDED-HOST", value);
  CAPTURE(sample.forwarded_for, sample.proto, sample.host);
  const TrustedProxies proxies(coffer::AddressList::parse({"127.0.0.0/8", "10.1.0.0/16"}).value());
  request.peer = "127.0.0.1";
  CHECK(proxies.has_tls(request) == sample.tls);
  CHECK(proxies.host(request) == sample.client_host);
  request.peer = "203.0.113.9";
  CHECK_FALSE(proxies.has_tls(request));
  CHECK(proxies.host(request) == "inner:8080");
}

TEST_CASE("Forwarded does not count, because proxies pass it on as the client sent it") {
  Request request;
  request.peer = "127.0.0.1";
  request.headers = {{"Forwarded", "for=192.0.2.1;proto=https;host=evil.example"},
                     {"Host", "pay.example"}};
  const TrustedProxies proxies(coffer::AddressList::parse({"127.0.0.1"}).value());
  CHECK(proxies.client_address(request) == "127.0.0.1");
  CHECK_FALSE(proxies.has_tls(request));
  CHECK(proxies.host(request) == "pay.example");
}

TEST_CASE("a permitted network contains its addresses in every spelling, and no unknown client") {
  const auto networks =
      coffer::AddressList::parse({"198.51.100.0/24", "::ffff:203.0.113.0/120", "2001:db8::/32"})
          .value();
  for (const char* inside : {"198.51.100.7", "::ffff:198.51.100.7", "::FFFF:c633:6407",
                             "203.0.113.9", "::ffff:203.0.113.9", "2001:DB8::1"}) {
    CHECK(networks.contains(inside));
  }
  for (const char* outside : {"unknown", "", "198.51.101.7", "::198.51.100.7", "203.0.112.9"}) {
    CHECK_FALSE(networks.contains(outside));
  }
  CHECK(network_of("::ffff:198.51.100.7") == "198.51.100.7");
  CHECK(network_of("2001:db8::1") == network_of("2001:DB8:0:0:ffff::2"));
  CHECK(network_of("unknown") == "unknown");
}

TEST_CASE("loopback is distinguished from similar addresses") {
  CHECK(is_loopback("127.0.0.1"));
  CHECK(is_loopback("127.255.0.1"));
  CHECK(is_loopback("::1"));
  CHECK(is_loopback("::ffff:127.0.0.1"));
  CHECK_FALSE(is_loopback("12.7.0.0"));
  CHECK_FALSE(is_loopback("::ffff:128.0.0.1"));
  CHECK_FALSE(is_loopback("::12"));
  CHECK_FALSE(is_loopback(""));
}
