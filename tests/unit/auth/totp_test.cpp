// RFC 6238, appendix B (SHA-1), truncated to six digits.
#include "auth/totp.h"

#include <catch2/catch.hpp>

using namespace coffer;
using namespace coffer::auth;

namespace {
const Secret kKey(std::string("12345678901234567890"));
}

TEST_CASE("totp: the codes of the RFC", "[totp]") {
  struct Row {
    std::int64_t at_s;
    const char* code;
  };
  const Row rows[] = {{59, "287082"},
                      {1'111'111'109, "081804"},
                      {1'111'111'111, "050471"},
                      {1'234'567'890, "005924"},
                      {2'000'000'000, "279037"},
                      {20'000'000'000, "353130"}};
  for (const Row& row : rows) {
    INFO(row.at_s);
    const Timestamp at{row.at_s * 1000};
    CHECK(totp_code(kKey, totp_step(at)) == row.code);
    CHECK(match_totp(kKey, row.code, at) == totp_step(at));
  }
}

TEST_CASE("totp: one step of skew is accepted in either direction, two are not", "[totp]") {
  const Timestamp now{1'700'000'000'000};
  for (int skew = -3; skew <= 3; ++skew) {
    INFO(skew);
    const auto step = match_totp(kKey, totp_code(kKey, totp_step(now) + skew), now);
    CHECK(step.has_value() == (skew >= -1 && skew <= 1));
    if (step) CHECK(*step == totp_step(now) + skew);
  }
}

TEST_CASE("totp: only six digits are accepted", "[totp]") {
  const Timestamp at{59'000};
  for (const char* bad : {"", "28708", "2870820", " 287082", "287083", "28708x"}) {
    INFO(bad);
    CHECK_FALSE(match_totp(kKey, bad, at));
  }
}

TEST_CASE("totp: the key URI contains issuer and account, escaped", "[totp]") {
  CHECK(otpauth_uri(kKey, "coffer", "a b@example.com").reveal() ==
        "otpauth://totp/coffer:a%20b%40example.com?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ"
        "&issuer=coffer&algorithm=SHA1&digits=6&period=30");
}

TEST_CASE("totp: keys have 160 bits and differ", "[totp]") {
  SeededRandom random(3);
  const Secret key = generate_totp_key(random);
  CHECK(key.reveal().size() == 20);
  CHECK(key.reveal() != generate_totp_key(random).reveal());
}
