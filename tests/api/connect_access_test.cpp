// Access to the Connect group: the connect secret, and an idToken of the same application.
#include <catch2/catch.hpp>

#include "api/pipeline/authenticate.h"
#include "api/pipeline/routes.h"
#include "http/client_address.h"
#include "support/logins.h"

using namespace coffer;
using namespace coffer::test;

namespace connect_access_test {
namespace {

/// Calls the access check directly, so that the test does not depend on the routes.
Result<Caller> ask(TestApp& app, const std::string& secret, const std::string& token,
                   api::Access access = api::Access::connect) {
  const http::TrustedProxies none;
  const api::Authenticator gate(app.flows(), none);
  http::Request request;
  if (!secret.empty()) request.headers.emplace_back("x-svc-auth", secret);
  if (!token.empty()) request.headers.emplace_back("authorization", "Bearer " + token);
  return gate.authenticate(request, access);
}

void check_rejected(const Result<Caller>& caller) {
  REQUIRE_FALSE(caller);
  CHECK(caller.error().slug == Slug::unauthorized);
}

}  // namespace

TEST_CASE("connect access requires the connect secret with an idToken") {
  TestApp app;
  const Credentials& own = app.me().credentials();
  const std::string id_token = challenge_login(app, own).at("idToken");
  const auto caller = ask(app, own.connect_secret, id_token);
  REQUIRE(caller);
  CHECK(caller->application == own.application);
  CHECK(caller->tenant.association == app.association());
  CHECK(caller->scopes == ScopeSet::all());
}

TEST_CASE("connect access rejects every other pair of credentials") {
  TestApp app;
  const Credentials& own = app.me().credentials();
  const Client other = app.stranger();
  const std::string id_token = challenge_login(app, own).at("idToken");
  check_rejected(ask(app, own.connect_secret, app.me().token()));
  check_rejected(ask(app, own.api_key, id_token));
  check_rejected(ask(app, own.client_secret, id_token));
  check_rejected(ask(app, other.credentials().connect_secret, id_token));
  check_rejected(
      ask(app, own.connect_secret, challenge_login(app, other.credentials()).at("idToken")));
  check_rejected(ask(app, own.connect_secret, ""));
  check_rejected(ask(app, "", id_token));
  const TestUser user = add_user(app, app.association(), "ada");
  const Json login = app.anonymous().post("/v1/public/auth/verify-otp", user.login(app)).json();
  check_rejected(ask(app, own.connect_secret, login.at("accessToken")));
}

TEST_CASE("the connect secret is valid only for the Connect group") {
  TestApp app;
  const Credentials& own = app.me().credentials();
  const std::string id_token = challenge_login(app, own).at("idToken");
  check_rejected(ask(app, own.connect_secret, id_token, api::Access::application));
  check_rejected(ask(app, own.connect_secret, id_token, api::Access::business));
  CHECK(ask(app, own.api_key, id_token, api::Access::application));
  CHECK(ask(app, own.api_key, id_token, api::Access::business));
}

TEST_CASE("credentials cached for one kind of route are not valid for another") {
  TestApp app;
  const Credentials& own = app.me().credentials();
  const TestUser user = add_user(app, app.association(), "ada");
  const Json login = app.anonymous().post("/v1/public/auth/verify-otp", user.login(app)).json();
  const http::TrustedProxies none;
  const api::Authenticator gate(app.flows(), none);
  http::Request request;
  request.headers = {{"x-svc-auth", own.api_key},
                     {"authorization", "Bearer " + login.at("accessToken").get<std::string>()}};
  for (int i = 0; i < 2; ++i) {
    CHECK(gate.authenticate(request, api::Access::business));
    CHECK_FALSE(gate.authenticate(request, api::Access::application));
    CHECK_FALSE(gate.authenticate(request, api::Access::connect));
  }
}

TEST_CASE("rotation ends the connect secret and the idTokens") {
  TestApp app;
  const Credentials own = app.me().credentials();
  const std::string id_token = challenge_login(app, own).at("idToken");
  const auto rotated = flows::rotate_application(app.flows(), own.application).value();
  check_rejected(ask(app, own.connect_secret, id_token));
  check_rejected(ask(app, rotated.secrets.connect_secret.reveal(), id_token));
}

TEST_CASE("every route of the Connect group requires this access") {
  TestApp app;
  for (const api::Route& route : api::routes()) {
    if (route.access != api::Access::connect) continue;
    INFO(route.operation);
    const HttpCall call{std::string(route.method), std::string(route.pattern), {}, ""};
    CHECK(app.me().with("x-svc-auth", app.me().credentials().api_key).send(call).status == 401);
    CHECK(app.me().with("Authorization", "Bearer " + app.me().token()).send(call).status == 401);
  }
}

}  // namespace connect_access_test
