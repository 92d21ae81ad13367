// The metadata of an OpenID provider: only safe values are used.
#include "outbound/identity_provider.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

using namespace coffer;
using namespace coffer::outbound;

namespace identity_provider_test {
namespace {

using Json = nlohmann::json;

const std::string kIssuer = "https://login.example";

Json document() {
  return {{"issuer", kIssuer},
          {"authorization_endpoint", kIssuer + "/auth"},
          {"token_endpoint", kIssuer + "/token"},
          {"jwks_uri", "https://keys.example/jwks"}};
}

Result<ProviderEndpoints> read(const Json& change) {
  Json text = document();
  text.merge_patch(change);
  return read_discovery(text.dump(), kIssuer);
}

}  // namespace

TEST_CASE("identity provider: its endpoints, and how it accepts the secret", "[outbound]") {
  const auto found = read(Json::object());
  REQUIRE(found);
  CHECK(found->authorization == kIssuer + "/auth");
  CHECK(found->token == kIssuer + "/token");
  CHECK(found->keys == "https://keys.example/jwks");
  CHECK_FALSE(found->takes_secret_in_body);
  const char* methods = "token_endpoint_auth_methods_supported";
  CHECK(read({{methods, {"client_secret_post"}}})->takes_secret_in_body);
  CHECK_FALSE(
      read({{methods, {"client_secret_post", "client_secret_basic"}}})->takes_secret_in_body);
  CHECK(read({{"code_challenge_methods_supported", {"plain", "S256"}}}));
  CHECK(read({{"token_endpoint", "http://127.0.0.1:9/token"}}));
}

TEST_CASE("identity provider: another issuer, no PKCE, or no TLS is rejected", "[outbound]") {
  for (const Json& change : std::vector<Json>{
           {{"issuer", "https://other.example"}},
           {{"issuer", kIssuer + "/"}},
           {{"issuer", nullptr}},
           {{"issuer", 7}},
           {{"authorization_endpoint", nullptr}},
           {{"token_endpoint", "http://login.example/token"}},
           {{"token_endpoint", "javascript:alert(1)"}},
           {{"jwks_uri", "file:///etc/passwd"}},
           {{"jwks_uri", {"https://keys.example"}}},
           {{"authorization_endpoint", "https://login.example/auth#x"}},
           {{"code_challenge_methods_supported", {"plain"}}},
           {{"code_challenge_methods_supported", Json::array()}},
       }) {
    INFO(change.dump());
    const auto rejected = read(change);
    REQUIRE_FALSE(rejected);
    CHECK(rejected.error().slug == Slug::provider_error);
  }
  for (const char* text : {"", "[]", "{", "null", "\"x\""}) {
    CHECK_FALSE(read_discovery(text, kIssuer));
  }
}

TEST_CASE("identity provider: the issuer needs TLS and has no query", "[outbound]") {
  for (const char* good :
       {"https://login.example", "https://login.example/realms/a", "http://127.0.0.1:8090"}) {
    CHECK(check_issuer(good).empty());
  }
  for (const char* bad :
       {"", "login.example", "http://login.example", "https://login.example?a=b"}) {
    CHECK_FALSE(check_issuer(bad).empty());
  }
}

TEST_CASE("identity provider: a form has no character that ends a value", "[outbound]") {
  CHECK(form_encoded({}).empty());
  CHECK(form_encoded({{"a", "b c"}, {"d", "&=+%\xc3\xa4~"}}) == "a=b%20c&d=%26%3D%2B%25%C3%A4~");
}

}  // namespace identity_provider_test
