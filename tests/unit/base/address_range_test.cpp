#include "base/limits/address_range.h"

#include <catch2/catch.hpp>

using namespace coffer;

TEST_CASE("networks hold the addresses of their prefix and family") {
  const auto list =
      AddressList::parse({"10.1.2.0/23", "192.0.2.7", "2001:db8:1::/48", "::1"}).value();
  for (const char* in :
       {"10.1.2.0", "10.1.3.255", "192.0.2.7", "::ffff:192.0.2.7", "2001:db8:1:ffff::9", "::1"}) {
    INFO(in);
    CHECK(list.contains(in));
  }
  for (const char* out : {"10.1.4.0", "192.0.2.8", "2001:db8:2::1", "::2", "::ffff:192.0.2.8", "",
                          "10.1.2", "host"}) {
    INFO(out);
    CHECK_FALSE(list.contains(out));
  }
  CHECK(AddressList::parse({"0.0.0.0/0"}).value().contains("203.0.113.1"));
  CHECK_FALSE(AddressList::parse({"0.0.0.0/0"}).value().contains("2001:db8::1"));
  CHECK(AddressList().empty());
}

TEST_CASE("an invalid network is named in the error") {
  for (const char* wrong : {"10.1.2.0/33", "10.1.2.0/", "10.1.2.0/-1", "10.1.2.0/8x", "::/129",
                            "host", "", "10.1.2/24"}) {
    INFO(wrong);
    const auto list = AddressList::parse({wrong});
    REQUIRE_FALSE(list);
    CHECK(list.error().detail.find(wrong) != std::string::npos);
  }
}
