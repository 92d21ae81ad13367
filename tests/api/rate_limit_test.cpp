// Token buckets per application, half of them for money, and throttled logins
// (docs/contract.md#rate-limits).
#include <catch2/catch.hpp>

#include "support/test_app.h"

using namespace coffer;
using namespace coffer::test;

namespace {

void limit_sandbox(Config& config) {
  config.rate_limit_sandbox_per_s = 1;
  config.rate_limit_sandbox_burst = 4;
}

void limit_login(Config& config) { config.rate_limit_login_per_min = 10; }

void check_limited(const Reply& reply, const std::string& wait_s) {
  INFO(reply.text());
  CHECK(reply.status == 429);
  CHECK(reply.slug() == "rate-limited");
  CHECK(reply.header("Retry-After") == wait_s);
}

Reply log_in(TestApp& app, const std::string& secret) {
  Json body = app.me().token_request();
  if (!secret.empty()) body["clientSecret"] = secret;
  return app.anonymous().post("/v1/auth/token", body);
}

}  // namespace

TEST_CASE("after its burst, an application waits for the time in Retry-After") {
  TestApp app(limit_sandbox);
  for (int left = 3; left >= 0; --left) {
    const Reply reply = app.me().get("/v1/assets");
    CHECK(reply.status == 200);
    CHECK(reply.header("RateLimit-Policy") == "\"default\";q=4;w=4");
    CHECK_THAT(reply.header("RateLimit"),
               Catch::Matchers::StartsWith("\"default\";r=" + std::to_string(left) + ";"));
  }
  const Reply rejected = app.me().get("/v1/assets");
  check_limited(rejected, "1");
  CHECK(rejected.header("RateLimit-Policy") == "\"default\";q=4;w=4");
  CHECK_THAT(rejected.header("RateLimit"), Catch::Matchers::StartsWith("\"default\";r=0;"));
  app.clock.advance_ms(1'000);
  CHECK(app.me().get("/v1/assets").status == 200);
  check_limited(app.me().get("/v1/assets"), "1");
}

TEST_CASE("rejected requests have the rate limit headers too") {
  TestApp app(limit_sandbox);
  CHECK(app.me().get("/v1/assets/NOPE").has_header("RateLimit"));
  CHECK(app.me().scoped("wallets:read").get("/v1/transactions").has_header("RateLimit-Policy"));
  CHECK_FALSE(app.anonymous().get("/v1/assets").has_header("RateLimit"));
}

TEST_CASE("each application has its own rate limit") {
  TestApp app(limit_sandbox);
  const Client sibling(app, app.register_application(app.association()));
  for (int i = 0; i < 5; ++i) app.me().get("/v1/assets");
  check_limited(app.me().get("/v1/assets"), "1");
  CHECK(sibling.get("/v1/assets").status == 200);
  // A new token of the same application does not refill its bucket.
  check_limited(app.me().scoped("wallets:read").get("/v1/assets"), "1");
}

TEST_CASE("requests that move money may use half of the bucket") {
  TestApp app(limit_sandbox);
  const Json nothing = Json::object();
  CHECK(app.me().post("/v1/payments/p2p/own", nothing).status == 400);
  CHECK(app.me().post("/v1/payments/swap/own", nothing).status == 400);
  check_limited(app.me().post("/v1/payments/p2p/own/multi", nothing), "2");
  CHECK(app.me().get("/v1/assets").status == 200);
}

TEST_CASE("production has its own limits") {
  TestApp app([](Config& config) {
    config.rate_limit_production_per_s = 2;
    config.rate_limit_production_burst = 1;
  });
  const Client production = app.production();
  CHECK(production.get("/v1/assets").status == 200);
  CHECK(production.get("/v1/assets").status == 429);
  // The sandbox is unlimited here: 0 is off, without headers.
  for (int i = 0; i < 300; ++i) REQUIRE(app.me().get("/v1/assets").status == 200);
  CHECK_FALSE(app.me().get("/v1/assets").has_header("RateLimit"));
  app.clock.advance_ms(500);
  CHECK(production.get("/v1/assets").status == 200);
}

TEST_CASE("token calls: ten a minute, then 429") {
  TestApp app(limit_login);
  // The test's own application has used one.
  for (int i = 0; i < 9; ++i) REQUIRE(log_in(app, "").status == 200);
  // Wrong secrets do not use the client's limit.
  CHECK(log_in(app, "wrong").status == 401);
  check_limited(log_in(app, ""), "6");
  app.clock.advance_ms(6'000);
  CHECK(log_in(app, "").status == 200);
  CHECK(log_in(app, "").status == 429);
}

TEST_CASE("wrong secrets delay further wrong ones, and the right secret is never rejected") {
  TestApp app([](Config& config) { config.rate_limit_login_per_min = 100; });
  for (int i = 0; i < 4; ++i) CHECK(log_in(app, "wrong").status == 401);
  check_limited(log_in(app, "wrong"), "1");
  CHECK(log_in(app, "").status == 200);
  // A success resets the failures of this source for this client.
  for (int i = 0; i < 4; ++i) CHECK(log_in(app, "wrong").status == 401);
  for (const char* wait_s : {"1", "2", "4"}) {
    check_limited(log_in(app, "wrong"), wait_s);
    app.clock.advance_ms(std::stoi(wait_s) * 1'000);
    CHECK(log_in(app, "wrong").status == 401);
  }
  CHECK(log_in(app, "").status == 200);
}

TEST_CASE("wrong secrets from other addresses do not lock a client out") {
  TestApp app([](Config& config) {
    config.rate_limit_login_per_min = 10;
    config.trusted_proxies = {"127.0.0.0/8"};
  });
  Json wrong = app.me().token_request();
  wrong["clientSecret"] = "guessed";
  const auto from = [&](const std::string& address) {
    return app.anonymous().with("X-Forwarded-For", address);
  };
  for (int i = 0; i < 60; ++i) {
    const int status = from("198.51.100." + std::to_string(i)).post("/v1/auth/token", wrong).status;
    CHECK(status == 401);
  }
  for (int i = 0; i < 30; ++i) from("203.0.113.9").post("/v1/auth/token", wrong);
  CHECK(from("203.0.113.9").post("/v1/auth/token", wrong).status == 429);
  // From another address, and even from the attacker's address.
  CHECK(from("192.0.2.1").post("/v1/auth/token", app.me().token_request()).status == 200);
  CHECK(from("203.0.113.9").post("/v1/auth/token", app.me().token_request()).status == 200);
}

TEST_CASE("a source is an IPv4 address or an IPv6 /64") {
  TestApp app([](Config& config) {
    config.rate_limit_login_per_min = 10;
    config.trusted_proxies = {"127.0.0.0/8"};
  });
  const auto guess = [&](const std::string& address, const std::string& name) {
    return app.anonymous()
        .with("X-Forwarded-For", address)
        .post("/v1/auth/token", {{"clientId", name}, {"clientSecret", "guessed"}})
        .status;
  };
  for (int i = 0; i < 11; ++i) {
    CHECK(guess("2001:db8:1:2::" + std::to_string(i + 1), "app_" + std::to_string(i)) == 401);
  }
  CHECK(guess("2001:db8:1:2:ffff::1", "app_one") == 429);
  CHECK(guess("2001:db8:1:3::1", "app_one") == 401);
}

TEST_CASE("X-Forwarded-For counts only from configured proxies") {
  TestApp app([](Config& config) { config.rate_limit_login_per_min = 10; });
  int rejected = 0;
  for (int i = 0; i < 40; ++i) {
    const Json stranger{{"clientId", "app_" + std::to_string(i)}, {"clientSecret", "guessed"}};
    rejected += app.anonymous()
                    .with("X-Forwarded-For", "198.51.100." + std::to_string(i))
                    .post("/v1/auth/token", stranger)
                    .status == 429;
  }
  CHECK(rejected == 29);
}

TEST_CASE("the form token call is limited with an OAuth error") {
  TestApp app(limit_login);
  const HeaderList form{{"Content-Type", "application/x-www-form-urlencoded"}};
  const std::string body = "grant_type=client_credentials&client_id=a&client_secret=b";
  Reply reply;
  for (int i = 0; i < 12 && reply.status != 429; ++i) {
    reply = app.anonymous().send({"POST", "/v1/oauth/token", form, body});
  }
  CHECK(reply.status == 429);
  CHECK_FALSE(reply.header("Retry-After").empty());
  CHECK(reply.json().at("error") == "temporarily_unavailable");
}
