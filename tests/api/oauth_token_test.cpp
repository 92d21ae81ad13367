// Tokens of an external issuer on the business routes.
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>

#include "support/listener.h"
#include "support/test_app.h"
#include "support/token_issuer.h"

using namespace coffer;
using namespace coffer::test;

namespace oauth_token_test {
namespace {

const std::string kAssociation = "/v1/business/association/all";

/// A file with the issuer's keys, in a separate folder.
class KeyFile {
 public:
  KeyFile() {
    std::string pattern = (std::filesystem::temp_directory_path() / "coffer-keys-XXXXXX").string();
    REQUIRE(::mkdtemp(pattern.data()) != nullptr);
    folder_ = pattern;
  }
  ~KeyFile() { std::filesystem::remove_all(folder_); }
  KeyFile(const KeyFile&) = delete;
  KeyFile& operator=(const KeyFile&) = delete;

  std::string path() const { return folder_ + "/keys.json"; }
  void write(const std::string& text) const {
    std::ofstream(path(), std::ios::trunc) << text;
    // A file with the same size and time would look unchanged.
    std::filesystem::last_write_time(
        path(), std::filesystem::file_time_type(std::chrono::seconds(1'000'000'000 + ++writes_)));
  }

 private:
  std::string folder_;
  mutable int writes_ = 0;
};

struct World {
  World() { file.write(jwk_set({&rsa, &ed})); }

  Json claims() const {
    const std::int64_t now_s = app.clock.now().ms / 1000;
    return {{"iss", "https://issuer.example"},
            {"aud", "coffer"},
            {"exp", now_s + 600},
            {"iat", now_s},
            {"azp", app.me().credentials().client_id}};
  }
  std::string token(const IssuerKey& key, const Json& change = Json::object()) const {
    auto body = nlohmann::json::parse(claims().dump());
    body.merge_patch(nlohmann::json::parse(change.dump()));
    return key.token(body);
  }
  Client with(const std::string& token) const {
    return app.me().with("Authorization", "Bearer " + token);
  }

  KeyFile file;
  IssuerKey rsa = IssuerKey::rsa("first");
  IssuerKey ed = IssuerKey::ed25519("second");
  TestApp app{[this](Config& config) {
    config.oauth_issuer = "https://issuer.example";
    config.oauth_audience = "coffer";
    config.oauth_jwks = file.path();
  }};
};

}  // namespace

TEST_CASE("a token of the configured issuer is valid only for the business routes") {
  World world;
  for (const IssuerKey* key : {&world.rsa, &world.ed}) {
    const Client user = world.with(world.token(*key));
    const Reply reply = user.get(kAssociation);
    INFO(reply.text());
    CHECK(reply.status == 200);
    CHECK(user.get("/v1/wallets").status == 401);
    CHECK(user.without("x-svc-auth").get(kAssociation).status == 401);
  }
  CHECK(world.app.me().get(kAssociation).status == 200);
}

TEST_CASE("an external token must belong to the application of x-svc-auth") {
  World world;
  const Client other(world.app, world.app.register_application(world.app.association()));
  const std::string token = world.token(world.ed);
  CHECK(other.with("Authorization", "Bearer " + token).get(kAssociation).status == 401);
  const std::string for_other =
      world.token(world.ed, {{"azp", nullptr}, {"client_id", other.credentials().client_id}});
  CHECK(other.with("Authorization", "Bearer " + for_other).get(kAssociation).status == 200);
  CHECK(world.with(for_other).get(kAssociation).status == 401);
  CHECK(world.with(world.token(world.ed, {{"azp", "app_nobody"}})).get(kAssociation).status == 401);
}

TEST_CASE("a suspended application's users are rejected immediately") {
  World world;
  const Client user = world.with(world.token(world.ed));
  CHECK(user.get(kAssociation).status == 200);
  flows::suspend_application(world.app.flows(), world.app.me().credentials().application, true)
      .value();
  CHECK(user.get(kAssociation).status == 401);
}

TEST_CASE("wrong issuer, audience, time or signature is 401") {
  World world;
  const std::int64_t now_s = world.app.clock.now().ms / 1000;
  for (const Json& change :
       {Json{{"iss", "https://other.example"}}, Json{{"aud", "other"}}, Json{{"exp", now_s - 60}},
        Json{{"nbf", now_s + 61}}, Json{{"azp", nullptr}}}) {
    INFO(change.dump());
    CHECK(world.with(world.token(world.ed, change)).get(kAssociation).status == 401);
  }
  CHECK(world.with(world.token(IssuerKey::ed25519("second"))).get(kAssociation).status == 401);
  CHECK(world.with(world.token(IssuerKey::ed25519("third"))).get(kAssociation).status == 401);
  CHECK(world.with("eyJhbGciOiJub25lIn0.e30.").get(kAssociation).status == 401);
}

TEST_CASE("a token expires at its expiry, with the permitted skew") {
  World world;
  const Client user = world.with(world.token(world.ed));
  world.app.clock.advance_ms(659'999);
  CHECK(user.get(kAssociation).status == 200);
  world.app.clock.advance_ms(1);
  CHECK(user.get(kAssociation).status == 401);
}

TEST_CASE("a changed key file is read again, and a withdrawn key becomes invalid within a minute") {
  World world;
  const IssuerKey next = IssuerKey::p256("next");
  const std::string old_token = world.token(world.ed), new_token = world.token(next);
  CHECK(world.with(old_token).get(kAssociation).status == 200);
  CHECK(world.with(new_token).get(kAssociation).status == 401);
  world.file.write(jwk_set({&next}));
  CHECK(world.with(new_token).get(kAssociation).status == 200);
  world.app.clock.advance_ms(60'000);
  CHECK(world.with(old_token).get(kAssociation).status == 401);
}

TEST_CASE("if the key file becomes unreadable, the last keys stay in use") {
  World world;
  CHECK(world.with(world.token(world.ed)).get(kAssociation).status == 200);
  for (const auto& harm :
       std::vector<std::function<void()>>{[&] { world.file.write("no JSON"); },
                                          [&] { std::filesystem::remove(world.file.path()); }}) {
    harm();
    world.app.clock.advance_ms(60'000);
    CHECK(world.with(world.token(world.ed)).get(kAssociation).status == 200);
  }
}

TEST_CASE("without a configured issuer, only coffer's tokens are accepted") {
  World world;
  TestApp plain;
  const Reply reply =
      plain.me().with("Authorization", "Bearer " + world.token(world.ed)).get(kAssociation);
  CHECK(reply.status == 401);
}

TEST_CASE("keys that cannot be fetched in time are 504, in the envelope of the business routes") {
  const Listener silence;
  TestApp app([&](Config& config) {
    config.oauth_issuer = "https://issuer.example";
    config.oauth_audience = "coffer";
    config.oauth_jwks = silence.url();
    config.oauth_timeout_ms = 50;
  });
  const IssuerKey key = IssuerKey::ed25519("k");
  const Reply reply =
      app.me().with("Authorization", "Bearer " + key.token({{"iss", "x"}})).get(kAssociation);
  INFO(reply.text());
  CHECK(reply.status == 504);
  CHECK_THAT(reply.json().at("message").get<std::string>(),
             Catch::Matchers::StartsWith("TOKEN_VERIFICATION_TIMEOUT: "));
  // coffer's own tokens do not need the issuer's keys.
  CHECK(app.me().get(kAssociation).status == 200);
}

}  // namespace oauth_token_test
