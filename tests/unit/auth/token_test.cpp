#include "auth/token.h"

#include <catch2/catch.hpp>
#include <numeric>

#include "base/check.h"
#include "base/digest.h"

using namespace coffer;
using namespace coffer::auth;

namespace token_test {
namespace {

Secret counting_key() {
  std::string key(32, '\0');
  std::iota(key.begin(), key.end(), '\0');
  return Secret(key);
}

TokenClaims sample() {
  TokenClaims claims;
  claims.application = *ApplicationId::parse("01890a5d-ac96-774b-bcce-b302099a8057");
  claims.association = *AssociationId::parse("01890a5d-ac96-774b-bcce-b302099a8058");
  claims.environment = Environment::production;
  claims.scopes = ScopeSet().with(Scope::wallets_read).with(Scope::payments_write);
  claims.key_version = 7;
  claims.issued_at = {1'767'225'600'000};
  claims.expires_at = {1'767'229'200'000};
  return claims;
}

// Computed with Python's hmac and base64 over the same claims.
constexpr const char* kSampleToken =
    "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9."
    "eyJpc3MiOiJjb2ZmZXIiLCJraW5kIjoiYWNjZXNzIiwic3ViIjoiMDE4OTBhNWQtYWM5Ni03NzRiLWJjY2UtYjMwMjA5OW"
    "E4"
    "MDU3IiwiYXNzb2NpYXRpb24iOiIwMTg5MGE1ZC1hYzk2LTc3NGItYmNjZS1iMzAyMDk5YTgwNTgiLCJlbnZpcm9ubWVudC"
    "I6"
    "InByb2R1Y3Rpb24iLCJzY29wZSI6IndhbGxldHM6cmVhZCBwYXltZW50czp3cml0ZSIsImt2Ijo3LCJpYXQiOjE3NjcyMj"
    "U2"
    "MDAsImV4cCI6MTc2NzIyOTIwMH0."
    "8cbJA5qxxmL0cRIDHcztT8UQ5M-bHN9Qog-43WHoImE";

std::string sample_payload() {
  const std::string token = kSampleToken;
  const auto begin = token.find('.') + 1;
  const auto payload = from_base64url(token.substr(begin, token.rfind('.') - begin));
  REQUIRE(payload);
  return *payload;
}

/// A token with a valid signature over arbitrary parts.
std::string forge(const std::string& header, const std::string& payload) {
  const std::string signed_part = to_base64url(header) + "." + to_base64url(payload);
  return signed_part + "." +
         to_base64url(as_text(hmac_sha256(counting_key().reveal(), signed_part)));
}

constexpr Timestamp kNow{1'767'225'601'000};

Slug rejection(const TokenIssuer& issuer, std::string_view token, Timestamp now = kNow) {
  const auto claims = issuer.verify(token, now);
  REQUIRE_FALSE(claims);
  return claims.error().slug;
}

}  // namespace

TEST_CASE("token: issued bytes equal an independent computation") {
  const TokenIssuer issuer(counting_key());
  CHECK(issuer.issue(sample()) == kSampleToken);
  const auto claims = issuer.verify(kSampleToken, kNow);
  REQUIRE(claims);
  CHECK(*claims == sample());
}

TEST_CASE("token: claims survive the round trip") {
  const TokenIssuer issuer(counting_key());
  TokenClaims claims = sample();
  SECTION("without an association") { claims.association.reset(); }
  SECTION("without scopes") { claims.scopes = ScopeSet(); }
  SECTION("with all scopes") { claims.scopes = ScopeSet::all(); }
  SECTION("of the sandbox") { claims.environment = Environment::sandbox; }
  SECTION("of the challenge login") {
    claims.kind = TokenKind::id;
    claims.issuer = "https://pay.example/v1/public/auth-connect";
    claims.account = "GDRXE2BQUC3AZNPVFSCEZ76NJ3WWL25FYFK6RGZGIEKWE4SOOHSUJUJ6";
  }
  SECTION("with a large key version") { claims.key_version = INT64_MAX; }
  const std::string token = issuer.issue(claims);
  CHECK(token.size() < 1024);
  const auto read = issuer.verify(token, kNow);
  REQUIRE(read);
  CHECK(*read == claims);
}

TEST_CASE("token: its times are whole seconds at any time of issue") {
  const TokenIssuer issuer(counting_key());
  for (const std::int64_t ms : {0, 1, 7, 499, 500, 999}) {
    TokenClaims claims = sample();
    claims.last({1'767'225'600'000 + ms}, 3'600'000);
    const std::string token = issuer.issue(claims);
    const auto first = token.find('.') + 1;
    const auto text = from_base64url(token.substr(first, token.rfind('.') - first)).value();
    INFO(text);
    CHECK(text.ends_with(R"("iat":1767225600,"exp":1767229200})"));
  }
}

TEST_CASE("token: an ID token has the issuer and the account of SEP-10") {
  const TokenIssuer issuer(counting_key());
  TokenClaims claims = sample();
  claims.kind = TokenKind::id;
  claims.issuer = "https://pay.example/v1/public/auth-connect";
  claims.account = "GDRXE2BQUC3AZNPVFSCEZ76NJ3WWL25FYFK6RGZGIEKWE4SOOHSUJUJ6";
  const std::string token = issuer.issue(claims);
  const auto first = token.find('.') + 1;
  const auto text = from_base64url(token.substr(first, token.rfind('.') - first)).value();
  INFO(text);
  CHECK(text.starts_with(R"({"iss":"https://pay.example/v1/public/auth-connect","kind":"id",)"
                         R"("sub":"GDRXE2BQUC3AZNPVFSCEZ76NJ3WWL25FYFK6RGZGIEKWE4SOOHSUJUJ6",)"
                         R"("application":"01890a5d-ac96-774b-bcce-b302099a8057")"));
}

TEST_CASE("token: expires exactly to the millisecond") {
  const TokenIssuer issuer(counting_key());
  CHECK(issuer.verify(kSampleToken, {1'767'229'199'999}));
  CHECK(rejection(issuer, kSampleToken, {1'767'229'200'000}) == Slug::token_expired);
  CHECK(rejection(issuer, kSampleToken, {1'967'229'200'500}) == Slug::token_expired);
}

TEST_CASE("token: an expired token with a bad signature is unauthorized, not expired") {
  const TokenIssuer other(Secret(std::string(32, 'x')));
  CHECK(rejection(other, kSampleToken, {1'967'229'200'500}) == Slug::unauthorized);
}

TEST_CASE("token: no changed or missing character is accepted") {
  const TokenIssuer issuer(counting_key());
  const std::string token = kSampleToken;
  for (std::size_t i = 0; i < token.size(); ++i) {
    INFO(i);
    std::string changed = token;
    changed[i] = token[i] == 'A' ? 'B' : 'A';
    CHECK(rejection(issuer, changed) == Slug::unauthorized);
    CHECK(rejection(issuer, token.substr(0, i)) == Slug::unauthorized);
  }
  // The last character carries two unused bits: other spellings of the same signature are rejected.
  for (const char last : {'R', 'S', 'T', 'U', 'Q'}) {
    std::string changed = token;
    changed.back() = last;
    if (changed != token) CHECK(rejection(issuer, changed) == Slug::unauthorized);
  }
  for (const std::string& text :
       {token + "=", token + ".", "." + token, token + " ", token + token, std::string(".."),
        std::string("."), std::string(), std::string(5000, '.'), std::string(5000, 'a')}) {
    CHECK(rejection(issuer, text) == Slug::unauthorized);
  }
}

TEST_CASE("token: another header is rejected, even with a correct signature") {
  const TokenIssuer issuer(counting_key());
  const std::string payload = sample_payload();
  const std::string header = R"({"alg":"HS256","typ":"JWT"})";
  REQUIRE(forge(header, payload) == kSampleToken);
  for (const char* other :
       {R"({"alg":"none","typ":"JWT"})", R"({"typ":"JWT","alg":"HS256"})", R"({"alg":"HS256"})",
        R"({"alg":"HS256","typ":"JWT","kid":"../../dev/null"})", R"({"alg":"RS256","typ":"JWT"})",
        R"({ "alg":"HS256","typ":"JWT"})", ""}) {
    INFO(other);
    CHECK(rejection(issuer, forge(other, payload)) == Slug::unauthorized);
  }
  const std::string none = to_base64url(R"({"alg":"none"})") + "." + to_base64url(payload) + ".";
  CHECK(rejection(issuer, none) == Slug::unauthorized);
}

TEST_CASE("token: a signed payload of another form is rejected completely") {
  const TokenIssuer issuer(counting_key());
  const std::string header = R"({"alg":"HS256","typ":"JWT"})";
  const std::string good = sample_payload();
  for (std::size_t length = 0; length < good.size(); ++length) {
    INFO(length);
    CHECK(rejection(issuer, forge(header, good.substr(0, length))) == Slug::unauthorized);
  }
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string payload = good;
    const auto at = payload.find(from);
    REQUIRE(at != std::string::npos);
    return forge(header, payload.replace(at, from.size(), to));
  };
  CHECK(rejection(issuer, with("\"access\"", "\"refresh\"")) == Slug::unauthorized);
  CHECK(rejection(issuer, with("8057", "805")) == Slug::unauthorized);
  CHECK(rejection(issuer, with("8058", "805x")) == Slug::unauthorized);
  CHECK(rejection(issuer, with("production", "staging")) == Slug::unauthorized);
  CHECK(rejection(issuer, with("payments:write", "payments:fly")) == Slug::unauthorized);
  CHECK(rejection(issuer, with("\"kv\":7", "\"kv\":x")) == Slug::unauthorized);
  CHECK(rejection(issuer, with("1767229200", "-1767229200")) == Slug::unauthorized);
  CHECK(rejection(issuer, with("1767229200", "1767229200.5")) == Slug::unauthorized);
  CHECK(rejection(issuer, with("1767225600", "1767225600.001")) == Slug::unauthorized);
  CHECK(rejection(issuer, with("1767229200", "99999999999999999999")) == Slug::unauthorized);
  CHECK(rejection(issuer, with("1767229200", "9223372036854775807")) == Slug::unauthorized);
  CHECK(rejection(issuer, forge(header, good + "}")) == Slug::unauthorized);
}

TEST_CASE("token: the key must have 32 bytes") {
  CHECK_THROWS_AS(TokenIssuer(Secret("short")), InternalError);
}

}  // namespace token_test
