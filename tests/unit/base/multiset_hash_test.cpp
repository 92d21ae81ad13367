// LtHash over SHAKE256, with a value that another implementation computed.
#include "base/crypto/multiset_hash.h"

#include <catch2/catch.hpp>
#include <string>

#include "base/check.h"
#include "base/digest.h"

using namespace coffer;

TEST_CASE("multiset hash: the sum does not depend on the order, and removing undoes adding") {
  std::string one;
  std::string other;
  for (const char* element : {"a", "b", "b", "c"}) add_to_multiset(one, element);
  for (const char* element : {"b", "c", "d", "a", "b"}) add_to_multiset(other, element);
  CHECK(one != other);
  remove_from_multiset(other, "d");
  CHECK(one == other);
  // A multiset, not a set: an XOR would lose both.
  remove_from_multiset(other, "b");
  CHECK(one != other);
  for (const char* element : {"a", "b", "c"}) remove_from_multiset(other, element);
  CHECK(other.empty());
}

TEST_CASE("multiset hash: one element gives its SHAKE256 output") {
  std::string sum;
  add_to_multiset(sum, "");
  REQUIRE(sum.size() == kMultisetHashBytes);
  // FIPS 202: SHAKE256 of the empty text.
  CHECK(to_hex(sum.substr(0, 16)) == "46b9dd2b0ba88d13233b3feb743eeb24");
}

TEST_CASE("multiset hash: another length is an error") {
  std::string sum(32, 'x');
  CHECK_THROWS_AS(add_to_multiset(sum, "a"), InternalError);
}
