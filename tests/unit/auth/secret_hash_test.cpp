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

TEST_CASE("secret: the stored form is keyed and matches only its secret under its key") {
  const SecretHasher hasher(Secret("Jefe"));
  const SecretHash stored = hasher.hash("what do ya want for nothing?");  // RFC 4231, test case 2
  CHECK(to_hex(as_text(stored)) ==
        "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
  CHECK(hasher.matches(stored, "what do ya want for nothing?"));
  CHECK_FALSE(hasher.matches(stored, "what do ya want for nothing"));
  CHECK_FALSE(hasher.matches(stored, ""));
  CHECK_FALSE(hasher.matches(stored, std::string_view("what do ya want for nothing?\0", 29)));
  CHECK_FALSE(hasher.matches(no_secret_hash(), ""));
  CHECK_FALSE(SecretHasher(Secret("Jeff")).matches(stored, "what do ya want for nothing?"));
}
