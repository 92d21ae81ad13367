// POST /v1/public/auth/verify-otp: users, and the routes that their tokens give access to.
#include <catch2/catch.hpp>

#include "flows/identity/user_changes.h"
#include "support/logins.h"
#include "support/scenario.h"

using namespace coffer;
using namespace coffer::test;

namespace otp_login_test {
namespace {

const std::string kVerify = "/v1/public/auth/verify-otp";
const std::string kAssociation = "/v1/business/association/all";

struct World {
  explicit World(const std::function<void(Config&)>& change = {}) : app(change) {}

  Reply log_in(const Json& body) { return app.anonymous().post(kVerify, body); }
  /// The token of a successful login.
  std::string token(int steps = 0) {
    const Reply reply = log_in(user.login(app, steps));
    INFO(reply.text());
    REQUIRE(reply.status == 200);
    return reply.json().at("accessToken");
  }
  Client with(const std::string& user_token) {
    return app.me().with("Authorization", "Bearer " + user_token);
  }

  TestApp app;
  TestUser user = add_user(app, app.association(), "Ada@Example.com");
};

void check_rejected(const Reply& reply, int status, const std::string& slug) {
  INFO(reply.text());
  CHECK(reply.status == status);
  CHECK(reply.slug() == slug);
}

}  // namespace

TEST_CASE("password and code give a bearer token for the business routes") {
  World world;
  const Reply reply = world.log_in(world.user.login(world.app));
  REQUIRE(reply.status == 200);
  const Json body = reply.json();
  CHECK(body.size() == 4);
  CHECK(body.at("tokenType") == "Bearer");
  CHECK(body.at("expiresIn") == 3600);
  CHECK(body.at("associationId") == world.app.association().to_string());
  CHECK(reply.header("Cache-Control") == "no-store");

  const Client user = world.with(body.at("accessToken"));
  CHECK(user.get(kAssociation).status == 200);
  CHECK(user.get("/v1/business/association/" + world.app.association().to_string()).status == 200);
  // The token is not valid for other routes.
  check_rejected(user.get("/v1/wallets"), 401, "unauthorized");
  check_rejected(user.get("/v1/transactions"), 401, "unauthorized");
  CHECK(world.app.me().get(kAssociation).status == 200);
}

TEST_CASE("the application of the token belongs to the same association") {
  World world;
  const std::string token = world.token();
  const Client sibling(world.app, world.app.register_application(world.app.association()));
  CHECK(sibling.with("Authorization", "Bearer " + token).get(kAssociation).status == 200);
  CHECK(world.app.production().with("Authorization", "Bearer " + token).get(kAssociation).status ==
        200);
  const Client stranger = world.app.stranger();
  CHECK(stranger.with("Authorization", "Bearer " + token).get(kAssociation).status == 401);
  CHECK(world.with(token).without("x-svc-auth").get(kAssociation).status == 401);
  const Credentials unassigned = world.app.register_application(std::nullopt);
  CHECK(world.with(token).with("x-svc-auth", unassigned.api_key).get(kAssociation).status == 403);
}

TEST_CASE("an application's scopes limit its users") {
  World world;
  const Credentials narrow = world.app.register_application(
      world.app.association(), Environment::sandbox, ScopeSet().with(Scope::wallets_read));
  const Reply reply =
      world.with(world.token()).with("x-svc-auth", narrow.api_key).get(kAssociation);
  CHECK(reply.status == 403);
}

TEST_CASE("a code works once, within one step of skew") {
  World world;
  CHECK(world.log_in(world.user.login(world.app)).status == 200);
  check_rejected(world.log_in(world.user.login(world.app)), 401, "unauthorized");
  // Older than the last used code, but within the skew.
  check_rejected(world.log_in(world.user.login(world.app, -1)), 401, "unauthorized");
  CHECK(world.log_in(world.user.login(world.app, 1)).status == 200);
  world.app.clock.advance_ms(30'000);
  check_rejected(world.log_in(world.user.login(world.app)), 401, "unauthorized");
  world.app.clock.advance_ms(60'000);
  check_rejected(world.log_in(world.user.login(world.app, 2)), 401, "unauthorized");
  check_rejected(world.log_in(world.user.login(world.app, -2)), 401, "unauthorized");
  CHECK(world.log_in(world.user.login(world.app, -1)).status == 200);
}

TEST_CASE("every rejected OTP login has the same response") {
  World world;
  const Json good = world.user.login(world.app);
  const Reply reference =
      world.log_in({{"username", "unknown"}, {"password", "x"}, {"otp", "123456"}});
  check_rejected(reference, 401, "unauthorized");
  struct Row {
    const char* member;
    std::string value;
  };
  const Row rows[] = {{"password", "wrong"},
                      {"otp", world.user.code(world.app, 5)},
                      {"otp", "12345"},
                      {"username", "another.user"}};
  for (const Row& row : rows) {
    INFO(row.member << " " << row.value);
    Json body = good;
    body[row.member] = row.value;
    CHECK(without_identity(world.log_in(body)) == without_identity(reference));
  }
  flows::suspend_user(world.app.flows(), world.user.id, true).value();
  CHECK(without_identity(world.log_in(good)) == without_identity(reference));
  flows::suspend_user(world.app.flows(), world.user.id, false).value();
  // None of these attempts used the code.
  CHECK(world.log_in(good).status == 200);
  CHECK(without_identity(world.log_in(good)) == without_identity(reference));
}

TEST_CASE("names of users are case-insensitive") {
  World world;
  Json body = world.user.login(world.app);
  CHECK(body.at("username") == "ada@example.com");
  body["username"] = "ADA@example.COM";
  CHECK(world.log_in(body).status == 200);
}

TEST_CASE("suspension and resets end a user's tokens immediately") {
  World world;
  const auto change = [&](const char* what, const std::function<void()>& act, int steps) {
    INFO(what);
    const std::string token = world.token(steps);
    CHECK(world.with(token).get(kAssociation).status == 200);
    act();
    CHECK(world.with(token).get(kAssociation).status == 401);
  };
  const flows::Context& flows = world.app.flows();
  change(
      "suspended", [&] { flows::suspend_user(flows, world.user.id, true).value(); }, -1);
  flows::suspend_user(flows, world.user.id, false).value();
  change(
      "new password",
      [&] {
        const auto reset = flows::reset_password(flows, world.user.id).value();
        CHECK(reset.otpauth_uri.empty());
        world.user.password = reset.password.reveal();
      },
      0);
  change(
      "new key",
      [&] {
        const auto reset = flows::reset_otp(flows, world.user.id).value();
        CHECK(reset.password.empty());
        world.user.otp_key = flows::open_otp_key(flows, reset.user).value().reveal();
      },
      1);
  CHECK(world.log_in(world.user.login(world.app)).status == 200);
}

TEST_CASE("a user's token expires") {
  World world;
  const std::string token = world.token();
  world.app.clock.advance_ms(3'599'999);
  CHECK(world.with(token).get(kAssociation).status == 200);
  world.app.clock.advance_ms(1);
  CHECK(world.with(token).get(kAssociation).status == 401);
}

TEST_CASE("a source has to wait after five wrong codes or passwords") {
  World world;
  Json wrong = world.user.login(world.app);
  wrong["otp"] = "000000";
  for (int i = 0; i < 5; ++i) check_rejected(world.log_in(wrong), 401, "unauthorized");
  const Reply limited = world.log_in(world.user.login(world.app));
  check_rejected(limited, 429, "rate-limited");
  CHECK(limited.header("Retry-After") == "900");
  world.app.clock.advance_ms(900'000);
  CHECK(world.log_in(world.user.login(world.app)).status == 200);
}

TEST_CASE("an account allows five wrong codes from all sources, and the owner can sign in") {
  World world([](Config& config) { config.trusted_proxies = {"127.0.0.0/8"}; });
  const auto from = [&](const std::string& address, const Json& body) {
    return world.app.anonymous().with("X-Forwarded-For", address).post(kVerify, body);
  };
  CHECK(from("192.0.2.1", world.user.login(world.app)).status == 200);
  Json wrong = world.user.login(world.app);
  wrong["otp"] = "000000";
  int looked_at = 0;
  for (int i = 0; i < 60; ++i) {
    looked_at += from("198.51.100." + std::to_string(i), wrong).status == 401;
  }
  CHECK(looked_at == 5);
  CHECK(from("203.0.113.1", world.user.login(world.app, 1)).status == 429);
  // At an address where the owner logged in before, strangers have no effect.
  CHECK(from("192.0.2.1", world.user.login(world.app, 1)).status == 200);
  CHECK(world.app.log().find("wrong code after the right password") != std::string::npos);
}

TEST_CASE("malformed OTP logins") {
  TestApp app;
  run_scenarios(
      app.anonymous(),
      {{"nothing", kVerify, "{}", 400, "malformed-request", {"username", "password", "otp"}},
       {"a number",
        kVerify,
        R"({"username":"a","password":"b","otp":123456})",
        400,
        "malformed-request",
        {"otp"}}});
}

TEST_CASE("enrolment rejects invalid and existing names, and unknown associations") {
  World world;
  const auto slug = [&](const std::string& name, AssociationId association) {
    const auto result = flows::add_user(world.app.flows(), name, association);
    return result ? Slug::unexpected_error : result.error().slug;
  };
  const AssociationId own = world.app.association();
  CHECK(slug("", own) == Slug::validation_failed);
  CHECK(slug("a b", own) == Slug::validation_failed);
  CHECK(slug(std::string(65, 'a'), own) == Slug::validation_failed);
  CHECK(slug("ADA@example.com", own) == Slug::conflict);
  CHECK(slug("ada@example.com", world.app.register_association()) == Slug::conflict);
  CHECK(slug("bob", AssociationId{world.app.random.uuid_v7(world.app.clock.now())}) ==
        Slug::not_found);
}

}  // namespace otp_login_test
