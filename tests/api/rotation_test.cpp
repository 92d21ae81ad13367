// Rotation of an application's secrets with an overlap, and the addresses from which they are
// accepted (docs/contract.md#registration).
#include <catch2/catch.hpp>

#include "auth/secret_hash.h"
#include "flows/identity/tenancy_changes.h"
#include "store/identity/tenants.h"
#include "support/logins.h"
#include "support/receiver.h"
#include "support/test_app.h"

using namespace coffer;
using namespace coffer::test;

namespace rotation_test {
namespace {

Credentials credentials_of(const flows::RegisteredApplication& registered) {
  const flows::IssuedSecrets& secrets = registered.secrets;
  return {registered.application.id,
          secrets.client_id,
          secrets.client_secret.reveal(),
          secrets.api_key.reveal(),
          secrets.connect_secret.reveal(),
          secrets.sign_in_secret.reveal(),
          secrets.public_key,
          secrets.secret_seed.reveal()};
}

struct World {
  explicit World(std::int64_t overlap_ms) {
    old_client.emplace(app, old_credentials);
    rotate(overlap_ms);
  }
  void rotate(std::int64_t overlap_ms) {
    const auto rotated =
        flows::rotate_application(app.flows(), old_credentials.application, overlap_ms);
    REQUIRE(rotated);
    fresh = credentials_of(*rotated);
  }
  Reply token(const Credentials& credentials) {
    return app.anonymous().post("/v1/auth/token", {{"clientId", credentials.client_id},
                                                   {"clientSecret", credentials.client_secret}});
  }
  Reply sign_in(const Credentials& credentials) {
    return app.anonymous().post(
        "/v1/public/auth-connect/sign-in",
        {{"publicKey", old_credentials.public_key}, {"secret", credentials.sign_in_secret}});
  }
  Reply refresh(const Reply& session) {
    return app.anonymous().post("/v1/public/auth/refresh",
                                {{"refreshToken", session.json().at("refreshToken")}});
  }
  /// Of a token with the API key of `credentials`.
  int status(const std::string& bearer, const Credentials& credentials) {
    return app.anonymous()
        .with("x-svc-auth", credentials.api_key)
        .with("Authorization", "Bearer " + bearer)
        .get("/v1/assets")
        .status;
  }

  TestApp app;
  Credentials old_credentials = app.register_application(app.association());
  std::optional<Client> old_client;  // with a token from before the rotation
  Credentials fresh;
};

}  // namespace

TEST_CASE("with an overlap, old and new secrets are valid until it ends") {
  World world(kHourMs);
  CHECK(world.old_client->get("/v1/assets").status == 200);
  world.app.clock.advance_ms(kHourMs / 2);
  const Reply by_old = world.token(world.old_credentials);
  const Reply by_new = world.token(world.fresh);
  REQUIRE(by_old.status == 200);
  REQUIRE(by_new.status == 200);
  // A token of an old secret expires with the secret.
  CHECK(by_old.json().at("expiresIn") == 1'800);
  CHECK(by_new.json().at("expiresIn") == 3'600);
  const std::string old_token = by_old.json().at("accessToken");
  const std::string new_token = by_new.json().at("accessToken");
  for (const Credentials* key : {&world.old_credentials, &world.fresh}) {
    CHECK(world.status(old_token, *key) == 200);
    CHECK(world.status(new_token, *key) == 200);
  }
  world.app.clock.advance_ms(kHourMs / 2 - 1);
  CHECK(world.status(old_token, world.old_credentials) == 200);
  world.app.clock.advance_ms(1);
  CHECK(world.status(old_token, world.fresh) == 401);
  CHECK(world.status(new_token, world.old_credentials) == 401);
  CHECK(world.status(new_token, world.fresh) == 200);
  CHECK(world.token(world.old_credentials).status == 401);
  CHECK(world.sign_in(world.old_credentials).status == 401);
  CHECK(world.old_client->get("/v1/assets").status == 401);
}

TEST_CASE(
    "a session of an old secret does not outlast the overlap, however often it is refreshed") {
  World world(kHourMs);
  const Reply by_old = world.sign_in(world.old_credentials);
  const Reply by_new = world.sign_in(world.fresh);
  REQUIRE(by_old.status == 200);
  REQUIRE(by_new.status == 200);
  const Reply again = world.refresh(by_old);
  REQUIRE(again.status == 200);
  CHECK(world.status(again.json().at("idToken"), world.old_credentials) == 200);
  world.app.clock.advance_ms(kHourMs);
  CHECK(world.refresh(again).status == 401);
  CHECK(world.status(again.json().at("idToken"), world.fresh) == 401);
  CHECK(world.refresh(by_new).status == 200);
}

TEST_CASE(
    "without an overlap, the old secrets end immediately, including those of an earlier rotation") {
  World world(kHourMs);
  const Credentials first = world.old_credentials;
  const Credentials second = world.fresh;
  world.rotate(kHourMs);
  CHECK(world.token(first).status == 401);
  CHECK(world.token(second).status == 200);
  CHECK(world.token(world.fresh).status == 200);
  CHECK(world.old_client->get("/v1/assets").status == 401);
  world.rotate(0);
  CHECK(world.token(second).status == 401);
  CHECK(world.token(world.fresh).status == 200);
}

TEST_CASE("a suspension during an overlap ends every token permanently") {
  World world(kHourMs);
  const std::string by_old = world.token(world.old_credentials).json().at("accessToken");
  const std::string by_new = world.token(world.fresh).json().at("accessToken");
  for (const bool suspended : {true, false}) {
    REQUIRE(flows::suspend_application(world.app.flows(), world.fresh.application, suspended));
    for (const std::string& token : {by_old, by_new, world.old_client->token()}) {
      CHECK(world.status(token, world.old_credentials) == 401);
      CHECK(world.status(token, world.fresh) == 401);
    }
  }
  const std::string later = world.token(world.old_credentials).json().at("accessToken");
  CHECK(world.status(later, world.fresh) == 200);
  world.app.clock.advance_ms(kHourMs);
  CHECK(world.status(later, world.fresh) == 401);
}

TEST_CASE("an application is accepted only from the addresses of its list") {
  TestApp app([](Config& config) { config.trusted_proxies = {"127.0.0.0/8"}; });
  const auto restrict_to = [&](const std::vector<std::string>& networks) {
    return flows::change_networks(app.flows(), app.me().credentials().application, networks);
  };
  const auto from = [&](const std::string& address) {
    return app.me().with("X-Forwarded-For", address).get("/v1/assets").status;
  };
  const auto token_from = [&](const std::string& address) {
    return app.anonymous()
        .with("X-Forwarded-For", address)
        .post("/v1/auth/token", app.me().token_request())
        .status;
  };
  CHECK(from("198.51.100.1") == 200);
  REQUIRE(restrict_to({"192.0.2.0/24", "2001:db8:1::/48"}));
  for (const char* in : {"192.0.2.1", "192.0.2.255", "2001:db8:1:2::3"}) {
    INFO(in);
    CHECK(from(in) == 200);
    CHECK(token_from(in) == 200);
  }
  for (const char* out : {"198.51.100.1", "192.0.3.1", "2001:db8:2::1"}) {
    INFO(out);
    CHECK(from(out) == 401);
    CHECK(token_from(out) == 401);
  }
  CHECK(app.me().get("/v1/assets").status == 401);
  CHECK(restrict_to({"192.0.2.0/33"}).error().slug == Slug::validation_failed);
  REQUIRE(restrict_to({}));
  CHECK(from("198.51.100.1") == 200);
}

namespace {

/// The stored use of an API key or connect secret.
std::optional<store::SecretUse> use_of(TestApp& app, const std::string& secret) {
  using Found = std::optional<store::SecretUse>;
  return store::with_reader(app.core().database(),
                            [&](store::Connection& db) -> Result<Found> {
                              for (const auto& use : store::list_secret_uses(db)) {
                                if (use.hash == app.flows().hasher->hash(secret)) return Found(use);
                              }
                              return Found();
                            })
      .value();
}

}  // namespace

TEST_CASE("the last use of an API key is stored in batches, with the address of the client") {
  TestApp app;
  const std::string key = app.me().credentials().api_key;
  app.core().background().store_secret_uses();
  CHECK_FALSE(use_of(app, key));
  const auto commands = app.core().queue().stats().commands;
  for (int i = 0; i < 20; ++i) REQUIRE(app.me().get("/v1/assets").status == 200);
  CHECK(app.core().queue().stats().commands == commands);  // no request writes
  const Timestamp at = app.clock.now();
  app.core().background().store_secret_uses();
  CHECK(app.core().queue().stats().commands == commands + 1);
  const auto use = use_of(app, key);
  REQUIRE(use);
  CHECK(use->at == at);
  CHECK(use->address == "127.0.0.1");
  app.clock.advance_ms(5'000);
  app.core().background().store_secret_uses();  // nothing new: nothing is written
  CHECK(app.core().queue().stats().commands == commands + 1);
  CHECK(app.me().get("/v1/assets").status == 200);
  CHECK(app.me().with("x-svc-auth", "ak_unknown").get("/v1/assets").status == 401);
  app.core().background().store_secret_uses();
  CHECK(use_of(app, key)->at == app.clock.now());
  CHECK_FALSE(use_of(app, "ak_unknown"));
}

TEST_CASE("the last use of a key is stored when the server stops") {
  TestApp app;
  app.listen();
  REQUIRE(app.me().get("/v1/assets").status == 200);
  app.restart();
  CHECK(use_of(app, app.me().credentials().api_key));
}

TEST_CASE("old and new keys have their own last use, and a rejected request does not count") {
  World world(kHourMs);
  REQUIRE(world.old_client->get("/v1/assets").status == 200);
  world.app.clock.advance_ms(1'000);
  const std::string token = world.token(world.fresh).json().at("accessToken");
  REQUIRE(world.status(token, world.fresh) == 200);
  world.app.core().background().store_secret_uses();
  const auto old = use_of(world.app, world.old_credentials.api_key);
  const auto fresh = use_of(world.app, world.fresh.api_key);
  REQUIRE(old);
  REQUIRE(fresh);
  CHECK(fresh->at.ms - old->at.ms == 1'000);

  REQUIRE(flows::change_networks(world.app.flows(), world.old_credentials.application,
                                 {"192.0.2.0/24"}));
  world.app.clock.advance_ms(1'000);
  CHECK(world.status(token, world.fresh) == 401);
  world.app.core().background().store_secret_uses();
  CHECK(use_of(world.app, world.fresh.api_key)->at == fresh->at);

  world.rotate(0);  // removes the old secrets and their uses
  CHECK_FALSE(use_of(world.app, world.old_credentials.api_key));
}

TEST_CASE("a replaced key pair ends with the commit, and so do its challenges and sessions") {
  TestApp app;
  const Credentials own = app.me().credentials();
  const std::string waiting = signed_challenge(app, own);
  const Json session = challenge_login(app, own);
  const auto rotated = flows::rotate_application(app.flows(), own.application, 0, "").value();
  const auto post = [&](const char* path, const Json& body) {
    return app.anonymous().post(path, body).status;
  };
  CHECK(post("/v1/public/auth-connect", {{"transaction", waiting}}) == 401);
  CHECK(post("/v1/public/auth/refresh", {{"refreshToken", session.at("refreshToken")}}) == 401);
  CHECK(app.anonymous().get("/v1/public/auth-connect?account=" + own.public_key).status == 404);
  CHECK(post("/v1/public/auth-connect/sign-in",
             {{"publicKey", own.public_key}, {"secret", own.sign_in_secret}}) == 401);
  CHECK(app.anonymous()
            .with("x-svc-auth", rotated.secrets.api_key.reveal())
            .with("Authorization", "Bearer " + session.at("idToken").get<std::string>())
            .get("/v1/assets")
            .status == 401);
  Credentials next = own;
  next.public_key = rotated.secrets.public_key;
  next.secret_seed = rotated.secrets.secret_seed.reveal();
  CHECK(challenge_login(app, next).contains("idToken"));
}

TEST_CASE("a rotation sends an event without secrets to webhooks that list it") {
  TestApp app;
  Receiver listed, every;
  REQUIRE(app.me()
              .post("/v1/webhooks",
                    {{"url", listed.url()}, {"eventTypes", {"application.credentials_rotated"}}})
              .status == 201);
  REQUIRE(app.me().post("/v1/webhooks", {{"url", every.url()}, {"eventTypes", {"*"}}}).status ==
          201);
  const Credentials before = app.me().credentials();
  const auto rotated = flows::rotate_application(app.flows(), before.application, kHourMs);
  REQUIRE(rotated);
  app.deliver();
  CHECK(every.count() == 0);
  REQUIRE(listed.count() == 1);
  const Json event = listed.received().at(0).json();
  CHECK(event.at("type") == "application.credentials_rotated");
  const Json expected{{"applicationId", before.application.to_string()},
                      {"clientId", before.client_id},
                      {"rotatedAt", event.at("timestamp")}};
  CHECK(event.at("data") == expected);
  const std::string body = event.dump();
  CHECK(body.find(rotated->secrets.api_key.reveal()) == std::string::npos);
  CHECK(rotated->application.rotated_at);
}

TEST_CASE("an application without an association rotates without an event") {
  TestApp app;
  const Credentials alone = app.register_application(std::nullopt);
  CHECK(flows::rotate_application(app.flows(), alone.application, 0));
}

}  // namespace rotation_test
