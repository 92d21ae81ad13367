#include "http/certificate.h"

#include <catch2/catch.hpp>
#include <fstream>
#include <map>

#include "certificates.h"

using namespace coffer;
using namespace coffer::http;
using coffer::http::test::Certificates;

TEST_CASE("a file of certificates: how many, and when the first ends", "[http]") {
  const Certificates files;
  files.make("DNS:pay.example", 1);
  const Timestamp now = SystemClock().now();
  const auto one = read_certificate_file(files.cert());
  REQUIRE(one);
  CHECK(one->count == 1);
  CHECK(one->first_ends > now.plus_ms(3'500'000));
  CHECK(one->first_ends <= now.plus_ms(3'600'000 + 5'000));

  std::ifstream in(files.cert());
  const std::string text((std::istreambuf_iterator<char>(in)), {});
  std::ofstream(files.key()) << "# two of them\n" << text << text;
  CHECK(read_certificate_file(files.key())->count == 2);
}

TEST_CASE("a name that a certificate is valid for", "[http]") {
  const Certificates files;
  const std::map<std::string, std::string> rows = {{"DNS:pay.example,IP:127.0.0.1", "pay.example"},
                                                   {"DNS:*.pay.example", "any.pay.example"},
                                                   {"IP:127.0.0.1", "127.0.0.1"},
                                                   {"IP:2001:db8::1", "2001:db8::1"},
                                                   {"email:a@pay.example", ""}};
  for (const auto& [names, first] : rows) {
    CAPTURE(names);
    files.make(names, 1);
    CHECK(read_certificate_file(files.cert())->first_name == first);
  }
}

TEST_CASE("a file without certificates is empty, and a missing file is a Problem", "[http]") {
  const Certificates files;
  std::ofstream(files.cert()) << "-----BEGIN CERTIFICATE-----\nbroken\n-----END CERTIFICATE-----\n";
  const auto none = read_certificate_file(files.cert());
  REQUIRE(none);
  CHECK(none->count == 0);
  CHECK(none->first_ends.ms == 0);
  const auto missing = read_certificate_file(files.key());
  REQUIRE_FALSE(missing);
  CHECK(missing.error().detail.find(files.key()) != std::string::npos);
}
