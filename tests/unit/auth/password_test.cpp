// scrypt by RFC 7914, and its stored form.
#include "auth/password.h"

#include <catch2/catch.hpp>

#include "base/digest.h"

using namespace coffer;
using namespace coffer::auth;

TEST_CASE("password hash: a vector of the RFC in stored form", "[password]") {
  // RFC 7914 section 12, third vector, first 32 bytes: PBKDF2 at the end makes them independent.
  const std::string stored = "scrypt$14$8$1$" + to_base64url("SodiumChloride") + "$" +
                             to_base64url(*from_hex("7023bdcb3afd7348461c06cd81fd38eb"
                                                    "fda8fbba904f8e3ea9b543f6545da1f2"));
  CHECK(matches_password(stored, "pleaseletmein"));
  CHECK_FALSE(matches_password(stored, "pleaseletmeiN"));
}

TEST_CASE("a password hash matches only its password and contains its cost", "[password]") {
  SeededRandom random(5);
  const Secret password = generate_password(random);
  CHECK(password.reveal().size() == 24);
  const std::string stored = hash_password(password, random, {4, 8, 1});
  CHECK(stored.substr(0, 13) == "scrypt$4$8$1$");
  CHECK(stored.find(password.reveal()) == std::string::npos);
  CHECK(matches_password(stored, password.reveal()));
  CHECK_FALSE(matches_password(stored, password.reveal() + "x"));
  CHECK_FALSE(matches_password(stored, ""));
  CHECK(stored != hash_password(password, random, {4, 8, 1}));
  CHECK(hash_password(password, random).substr(0, 14) == "scrypt$14$8$5$");
}

TEST_CASE("no password matches a text that is not a hash", "[password]") {
  const std::string rest = "$" + to_base64url("salt") + "$" + to_base64url(std::string(32, 'h'));
  for (const std::string& stored :
       {std::string(), std::string("scrypt"), "bcrypt$14$8$1" + rest, "scrypt$64$8$1" + rest,
        "scrypt$14$8$0" + rest, "scrypt$14$-8$1" + rest, std::string("scrypt$14$8$1$salt$"),
        no_password_hash()}) {
    INFO(stored);
    CHECK_FALSE(matches_password(stored, "x"));
  }
}
