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
      {"127.0.0.1", {"198.51.100.7,"}, "127.0.0.1"},
      {"127.0.0.1", {"unknown"}, "127.0.0.1"},
      {"127.0.0.1", {"198.51.100.7:5050"}, "127.0.0.1"},
      // Through two trusted proxies, and an untrusted one.
      {"127.0.0.1", {"198.51.100.7, 10.1.2.3"}, "198.51.100.7"},
      {"10.1.2.3", {"192.0.2.1, 198.51.100.7, 127.0.0.1"}, "198.51.100.7"},
      {"127.0.0.1", {"198.51.100.7, 10.2.0.1"}, "10.2.0.1"},
      {"127.0.0.1", {"198.51.100.7, unknown, 10.1.2.3"}, "10.1.2.3"},
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
