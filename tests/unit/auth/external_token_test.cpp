// Tokens of an external issuer: the examples of the RFCs, and all invalid tokens.
#include "auth/external_token.h"

#include <catch2/catch.hpp>
#include <functional>

#include "support/token_issuer.h"

using namespace coffer;
using namespace coffer::auth;
using namespace coffer::test;

namespace external_token_test {
using Json = nlohmann::json;

namespace {

const Timestamp kNow{1'767'225'600'000};
const ExternalIssuer kExpected{"https://issuer.example", "coffer"};
constexpr const char* kNonce = "n-0S6_WzA2Mj";

Json claims() {
  const std::int64_t now_s = kNow.ms / 1000;
  return {{"iss", kExpected.issuer},
          {"aud", kExpected.audience},
          {"exp", now_s + 300},
          {"nbf", now_s},
          {"iat", now_s},
          {"azp", "app_1"},
          {"sub", "user"}};
}

struct World {
  IssuerKey rsa = IssuerKey::rsa("r");
  IssuerKey ec = IssuerKey::p256("e");
  IssuerKey ed = IssuerKey::ed25519("d");
  JwkSet keys = JwkSet::parse(jwk_set({&rsa, &ec, &ed})).value();

  Result<ExternalClaims> verify(const std::string& token, Timestamp now = kNow) const {
    const auto parsed = ExternalToken::parse(token);
    if (!parsed) return unexpected(parsed.error());
    return verify_external(*parsed, keys, kExpected, now);
  }
  void rejects(const std::string& token, Slug slug = Slug::unauthorized) const {
    const auto result = verify(token);
    REQUIRE_FALSE(result);
    CHECK(result.error().slug == slug);
  }
};

}  // namespace

TEST_CASE("the examples of the RFCs", "[external]") {
  struct Row {
    const char* source;
    const char* jwk;
    const char* token;
  };
  const Row rows[] = {
      {"RFC 7515 A.3", R"({"kty":"EC","crv":"P-256",
         "x":"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU",
         "y":"x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"})",
       "eyJhbGciOiJFUzI1NiJ9.eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLm"
       "NvbS9pc19yb290Ijp0cnVlfQ.DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-"
       "F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmW"
       "QxfKTUJqPP3-Kg6NU1Q"},
      {"RFC 8037 A.4",
       R"({"kty":"OKP","crv":"Ed25519","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"})",
       "eyJhbGciOiJFZERTQSJ9.RXhhbXBsZSBvZiBFZDI1NTE5IHNpZ25pbmc.hgyY0il_MGCjP0JzlnLWG1PPOt7-09PGcv"
       "Mg3AIbQR6dWbhijcNR4ki4iylGjg5BhVsPt9g7sVvpAr_MuM0KAg"},
  };
  for (const Row& row : rows) {
    INFO(row.source);
    const JwkSet keys = JwkSet::parse(R"({"keys":[)" + std::string(row.jwk) + "]}").value();
    REQUIRE(keys.size() == 1);
    auto token = ExternalToken::parse(row.token).value();
    CHECK(keys.verifies(token));
    token.signed_part.back() = token.signed_part.back() == 'A' ? 'B' : 'A';
    CHECK_FALSE(keys.verifies(token));
  }
}

TEST_CASE("each of the three algorithms opens with its own key", "[external]") {
  const World world;
  CHECK(world.keys.size() == 3);
  for (const IssuerKey* key : {&world.rsa, &world.ec, &world.ed}) {
    INFO(key->id());
    const auto result = world.verify(key->token(claims()));
    REQUIRE(result);
    CHECK(result->client_id == "app_1");
    CHECK(result->expires_at.ms == kNow.ms + 360'000);
    // Without a key ID, every key of the algorithm is tried.
    Json header = key->header();
    header.erase("kid");
    CHECK(world.verify(key->token(header, claims())));
  }
}

TEST_CASE("unsupported algorithms and keys of another kind are rejected", "[external]") {
  const World world;
  const std::string payload = to_base64url(claims().dump());
  for (const char* algorithm : {"none", "None", "HS256", "RS384", "PS256", "ES384", ""}) {
    INFO(algorithm);
    Json header = world.rsa.header();
    header["alg"] = algorithm;
    world.rejects(world.rsa.token(header, claims()));
  }
  world.rejects(to_base64url(R"({"alg":"none"})") + "." + payload + ".");
  // The public key as a shared secret.
  const std::string hs = to_base64url(R"({"alg":"HS256","kid":"r"})") + "." + payload;
  world.rejects(hs + "." +
                to_base64url(as_text(hmac_sha256(world.rsa.jwk()["n"].get<std::string>(), hs))));
  for (const char* kid : {"e", "d", "unknown", ""}) {
    Json header = world.rsa.header();
    header["kid"] = kid;
    world.rejects(world.rsa.token(header, claims()));
  }
  Json critical = world.rsa.header();
  critical["crit"] = Json::array({"exp"});
  world.rejects(world.rsa.token(critical, claims()));
  Json numeric = world.rsa.header();
  numeric["kid"] = 7;
  world.rejects(world.rsa.token(numeric, claims()));
  world.rejects(IssuerKey::ed25519("d").token(claims()));
}

TEST_CASE("claims: issuer, audience, times, application", "[external]") {
  const World world;
  const std::int64_t now_s = kNow.ms / 1000;
  struct Row {
    const char* what;
    Json change;  // null removes
    bool accepted;
    Slug slug = Slug::unauthorized;
  };
  const Row rows[] = {
      {"other issuer", {{"iss", "https://issuer.example/"}}, false},
      {"no issuer", {{"iss", nullptr}}, false},
      {"other audience", {{"aud", "coffer2"}}, false},
      {"no audience", {{"aud", nullptr}}, false},
      {"one of several audiences", {{"aud", {"a", "coffer"}}}, true},
      {"none of several audiences", {{"aud", {"a", "b"}}}, false},
      {"a number as audience", {{"aud", 7}}, false},
      {"no end", {{"exp", nullptr}}, false},
      {"an end that is text", {{"exp", "later"}}, false},
      {"ended within the skew", {{"exp", now_s - 59}}, true},
      {"ended beyond the skew", {{"exp", now_s - 60}}, false, Slug::token_expired},
      {"an end out of range", {{"exp", 1e300}}, false},
      {"begins within the skew", {{"nbf", now_s + 60}}, true},
      {"begins beyond the skew", {{"nbf", now_s + 61}}, false},
      {"issued in the future", {{"iat", now_s + 61}}, false},
      {"a beginning that is text", {{"nbf", "soon"}}, false},
      {"fractions of seconds", {{"exp", static_cast<double>(now_s) + 1.5}}, true},
      {"neither nbf nor iat", {{"nbf", nullptr}, {"iat", nullptr}}, true},
      {"client_id instead of azp", {{"azp", nullptr}, {"client_id", "app_1"}}, true},
      {"no application", {{"azp", nullptr}}, false},
  };
  for (const Row& row : rows) {
    INFO(row.what);
    Json changed = claims();
    changed.merge_patch(row.change);
    const auto result = world.verify(world.ed.token(changed));
    CHECK(result.has_value() == row.accepted);
    if (!result) CHECK(result.error().slug == row.slug);
  }
  Json both = claims();
  both["client_id"] = "app_2";
  CHECK(world.verify(world.ed.token(both))->client_id == "app_1");
}

TEST_CASE("texts that are not a compact JWS", "[external]") {
  const World world;
  const std::string good = world.ed.token(claims());
  for (const std::string& bad :
       {std::string(), std::string("."), std::string(".."), std::string("a.b"), good + ".x",
        good.substr(0, good.rfind('.') + 1), good + "=", std::string(9000, 'x'),
        to_base64url("[]") + ".e30.AA", to_base64url("{") + ".e30.AA"}) {
    INFO(bad.substr(0, 40));
    world.rejects(bad);
  }
  world.rejects(world.ed.token(Json::array()));
}

TEST_CASE("keys that are unsuitable for signatures are omitted", "[external]") {
  const World world;
  const auto size_with = [&](const IssuerKey& key, const Json& change) {
    Json jwk = key.jwk();
    jwk.merge_patch(change);
    return JwkSet::parse(Json{{"keys", {jwk}}}.dump()).value().size();
  };
  CHECK(size_with(world.rsa, Json::object()) == 1);
  CHECK(size_with(world.rsa, {{"use", nullptr}, {"alg", nullptr}, {"kid", nullptr}}) == 1);
  CHECK(size_with(world.rsa, {{"use", "enc"}}) == 0);
  CHECK(size_with(world.rsa, {{"alg", "RS512"}}) == 0);
  CHECK(size_with(world.rsa, {{"e", "AQ"}}) == 0);
  CHECK(size_with(world.rsa, {{"n", nullptr}}) == 0);
  CHECK(size_with(world.rsa, {{"kty", "oct"}}) == 0);
  CHECK(size_with(world.ec, {{"crv", "P-384"}}) == 0);
  CHECK(size_with(world.ec, {{"y", to_base64url(std::string(32, '\1'))}}) == 0);
  CHECK(size_with(world.ed, {{"crv", "X25519"}}) == 0);
  CHECK(size_with(world.ed, {{"x", "AAAA"}}) == 0);
  CHECK(size_with(IssuerKey::rsa("small", 1024), Json::object()) == 0);
  for (const char* bad : {"", "{", "[]", "{}", R"({"keys":{}})"}) {
    CHECK_FALSE(JwkSet::parse(bad));
  }
  CHECK(JwkSet::parse(R"({"keys":[1,"x",{}]})").value().size() == 0);
}

TEST_CASE("ID tokens (OpenID Connect Core 3.1.3.7)", "[external]") {
  const World world;
  Json good = claims();
  good["aud"] = kExpected.audience;
  good.erase("azp");
  good["nonce"] = kNonce;
  good["email"] = "ada@example.com";
  const Timestamp began = kNow.plus_ms(-30'000);
  good["auth_time"] = began.ms / 1000 + 5;
  const auto verify = [&](const Json& change, const char* nonce = kNonce) {
    Json changed = good;
    changed.merge_patch(change);
    const auto parsed = ExternalToken::parse(world.ed.token(changed));
    REQUIRE(parsed);
    return verify_id_token(*parsed, world.keys, kExpected, nonce, began, kNow);
  };
  const auto right = verify(Json::object());
  REQUIRE(right);
  CHECK(right->subject == "user");
  CHECK(right->email == "ada@example.com");
  CHECK(verify({{"azp", kExpected.audience}}));
  CHECK(verify({{"aud", {kExpected.audience, "other"}}, {"azp", kExpected.audience}}));
  CHECK(verify({{"email", nullptr}}));
  CHECK(verify({{"auth_time", began.ms / 1000 - kExternalSkewMs / 1000}}));
  const std::vector<Json> wrong = {
      {{"iss", "https://other.example"}},
      {{"aud", "other"}},
      {{"aud", {kExpected.audience, "other"}}},  // without azp
      {{"azp", "other"}},
      {{"azp", 7}},
      {{"nonce", "another"}},
      {{"nonce", nullptr}},
      {{"nonce", 7}},
      {{"iat", nullptr}},
      {{"iat", kNow.ms / 1000 + 3'600}},
      {{"exp", nullptr}},
      {{"auth_time", nullptr}},
      {{"auth_time", "now"}},
      {{"auth_time", began.ms / 1000 - kExternalSkewMs / 1000 - 1}},
      {{"auth_time", 1'000'000'000}},
      {{"auth_time", kNow.ms / 1000 + 3'600}},
      {{"sub", nullptr}},
      {{"sub", ""}},
      {{"sub", std::string(256, 's')}},
  };
  for (const Json& change : wrong) {
    INFO(change.dump());
    const auto rejected = verify(change);
    REQUIRE_FALSE(rejected);
    CHECK(rejected.error().slug == Slug::unauthorized);
  }
  CHECK_FALSE(verify({{"nonce", ""}}, ""));
  CHECK(verify({{"exp", kNow.ms / 1000 - 3'600}}).error().slug == Slug::token_expired);
  const auto foreign = ExternalToken::parse(IssuerKey::ed25519("d").token(good));
  CHECK_FALSE(verify_id_token(*foreign, world.keys, kExpected, kNonce, began, kNow));
}

}  // namespace external_token_test
