#include "auth/secret_hash.h"

#include <catch2/catch.hpp>

using namespace coffer;
using namespace coffer::auth;

TEST_CASE("secret: prefix and 256 random bits, never the same twice") {
  OsRandom random;
  const Secret first = generate_secret(random, kApiKeyPrefix);
  const Secret second = generate_secret(random, kApiKeyPrefix);
  CHECK(first.reveal() != second.reveal());
  CHECK(first.reveal().starts_with("ak_"));
  const auto bytes = from_hex(first.reveal().substr(3));
  REQUIRE(bytes);
  CHECK(bytes->size() == 32);
}

TEST_CASE("secret: a webhook secret is padded base64, as Standard Webhooks libraries want it") {
  SeededRandom random(3);
  const Secret secret = generate_webhook_secret(random);
  REQUIRE(secret.reveal().starts_with("whsec_"));
  const auto bytes = from_base64(secret.reveal().substr(6));
  REQUIRE(bytes);
  CHECK(bytes->size() == 32);
}

TEST_CASE("secret: the stored form is SHA-256 and matches only its secret") {
  const SecretHash stored = hash_secret("abc");
  CHECK(to_hex(as_text(stored)) ==
        "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  CHECK(matches(stored, "abc"));
  CHECK_FALSE(matches(stored, "abd"));
  CHECK_FALSE(matches(stored, ""));
  CHECK_FALSE(matches(stored, std::string_view("abc\0", 4)));
  CHECK_FALSE(matches(no_secret_hash(), ""));
}
