// Sign-in challenges: for one purpose, for minutes, usable once, whatever strangers do.
#include <catch2/catch.hpp>

#include "flows/identity/operator_sessions.h"

using namespace coffer;
using flows::SignInChallenges;

TEST_CASE("sign-in challenges: for one purpose, for minutes, and once", "[flows]") {
  SeededRandom random(7);
  SignInChallenges challenges(random);
  const std::string text = challenges.issue("a", 1'000);
  CHECK(challenges.is_valid(text, "a", 1'000));
  CHECK_FALSE(challenges.is_valid(text, "b", 1'000));
  CHECK_FALSE(challenges.is_valid(text, "", 1'000));
  CHECK_FALSE(challenges.use(text, "b", 1'000));
  CHECK(challenges.is_valid(text, "a", 1'000 + SignInChallenges::kLifetimeMs - 1));
  CHECK_FALSE(challenges.is_valid(text, "a", 1'000 + SignInChallenges::kLifetimeMs));
  CHECK(challenges.use(text, "a", 2'000));
  CHECK_FALSE(challenges.use(text, "a", 2'000));
  CHECK_FALSE(challenges.is_valid(text, "a", 2'000));
  CHECK(challenges.issue("a", 1'000) != text);
}

TEST_CASE("sign-in challenges: every byte counts, and the key is of this process", "[flows]") {
  SeededRandom random(7);
  SignInChallenges challenges(random);
  SignInChallenges other(random);
  const std::string text = challenges.issue("a", 1'000);
  CHECK_FALSE(other.is_valid(text, "a", 1'000));
  CHECK_FALSE(challenges.is_valid("", "a", 1'000));
  CHECK_FALSE(challenges.is_valid(text.substr(1), "a", 1'000));
  CHECK_FALSE(challenges.is_valid(text + 'x', "a", 1'000));
  for (std::size_t at = 0; at < text.size(); ++at) {
    std::string changed = text;
    changed[at] = static_cast<char>(changed[at] ^ 1);
    CHECK_FALSE(challenges.is_valid(changed, "a", 1'000));
  }
}

TEST_CASE("sign-in challenges: a secret belongs to a challenge and a name", "[flows]") {
  SeededRandom random(7);
  const SignInChallenges challenges(random);
  const std::string text = challenges.issue("a", 1'000);
  const std::string secret = challenges.derive(text, "nonce").reveal();
  CHECK(secret.size() == 32);
  CHECK(secret == challenges.derive(text, "nonce").reveal());
  CHECK(secret != challenges.derive(text, "verifier").reveal());
  CHECK(secret != challenges.derive(challenges.issue("a", 1'000), "nonce").reveal());
}

TEST_CASE("sign-in challenges: used ones are bounded, and expire", "[flows]") {
  SeededRandom random(7);
  SignInChallenges challenges(random);
  for (std::size_t i = 0; i < SignInChallenges::kUsedMax; ++i) {
    CHECK(challenges.use(challenges.issue("a", 1'000), "a", 1'000));
  }
  const std::string more = challenges.issue("a", 1'000);
  CHECK_FALSE(challenges.use(more, "a", 1'000));
  const std::int64_t later = 1'000 + SignInChallenges::kLifetimeMs;
  CHECK(challenges.use(challenges.issue("a", later), "a", later));
}
