#include "auth/recovery_code.h"

#include <catch2/catch.hpp>

using namespace coffer;

TEST_CASE("recovery codes are accepted in any notation") {
  SeededRandom random{1};
  const Secret code = auth::generate_recovery_code(random);
  CHECK(code.reveal().size() == 19);
  const auto plain = auth::parse_recovery_code(code.reveal());
  REQUIRE(plain);
  CHECK(plain->size() == 16);
  std::string lower;
  for (const char c : *plain) lower += static_cast<char>(c >= 'A' && c <= 'Z' ? c + 32 : c);
  CHECK(auth::parse_recovery_code(" " + lower + " ") == plain);
  CHECK(auth::generate_recovery_code(random).reveal() != code.reveal());
  for (const char* none : {"", "123456", "0000-0000-0000-0000", "ABCD-EFGH-IJKL-MNO"}) {
    CHECK_FALSE(auth::parse_recovery_code(none));
  }
}
