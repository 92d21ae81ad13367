// The signed-challenge login (SEP-10), sign-in, refresh and stellar.toml.
#include <catch2/catch.hpp>

#include "base/digest.h"
#include "support/armed_fault.h"
#include "support/challenge_signer.h"
#include "support/logins.h"
#include "support/scenario.h"

using namespace coffer;
using namespace coffer::test;

namespace challenge_login_test {
namespace {

const std::string kChallenge = "/v1/public/auth-connect";
const std::string kSignIn = "/v1/public/auth-connect/sign-in";
const std::string kRefresh = "/v1/public/auth/refresh";

Reply submit(TestApp& app, const std::string& transaction) {
  return app.anonymous().post(kChallenge, {{"transaction", transaction}});
}

Reply refresh(TestApp& app, const Json& session) {
  return app.anonymous().post(kRefresh, {{"refreshToken", session.at("refreshToken")}});
}

Reply sign_in(TestApp& app, const Credentials& credentials) {
  return app.anonymous().post(
      kSignIn, {{"publicKey", credentials.public_key}, {"secret", credentials.sign_in_secret}});
}

void check_session(TestApp& app, const Credentials& credentials, const Reply& reply) {
  INFO(reply.text());
  REQUIRE(reply.status == 200);
  const Json session = reply.json();
  CHECK(session.size() == 4);
  CHECK(session.at("token") == session.at("idToken"));
  CHECK(session.at("expiresIn") == 3600);
  CHECK(reply.header("Cache-Control") == "no-store");
  const Reply use = app.anonymous()
                        .with("x-svc-auth", credentials.api_key)
                        .with("Authorization", "Bearer " + session.at("idToken").get<std::string>())
                        .get("/v1/wallets");
  CHECK(use.status == 200);
}

void check_rejected(const Reply& reply, int status, const std::string& slug) {
  INFO(reply.text());
  CHECK(reply.status == status);
  CHECK(reply.slug() == slug);
}

Client with_token(TestApp& app, const Credentials& credentials, const Json& session) {
  return app.anonymous()
      .with("x-svc-auth", credentials.api_key)
      .with("Authorization", "Bearer " + session.at("idToken").get<std::string>());
}

/// A row count, read through the store.
std::int64_t commits(TestApp& app) {
  return static_cast<std::int64_t>(app.core().queue().stats().commits);
}

}  // namespace

TEST_CASE("a standard challenge login: request, sign, submit, use") {
  TestApp app;
  const Credentials& own = app.me().credentials();
  const Reply challenge = app.anonymous().get(kChallenge + "?account=" + own.public_key);
  REQUIRE(challenge.status == 200);
  CHECK(challenge.json().size() == 2);
  CHECK(challenge.json().contains("network_passphrase"));
  CHECK(challenge.header("Cache-Control") == "no-store");
  check_session(app, own, submit(app, signed_challenge(app, own)));
}

TEST_CASE("a form submits a challenge too") {
  TestApp app;
  const Credentials& own = app.me().credentials();
  const Reply reply = app.anonymous().send({"POST",
                                            kChallenge,
                                            {{"Content-Type", "application/x-www-form-urlencoded"}},
                                            "transaction=" + escaped(signed_challenge(app, own))});
  check_session(app, own, reply);
  CHECK(app.anonymous()
            .send({"POST",
                   kChallenge,
                   {{"Content-Type", "application/x-www-form-urlencoded"}},
                   "other=1"})
            .status == 400);
}

TEST_CASE("an idToken has the endpoint as issuer and the account as subject") {
  TestApp app([](Config& config) { config.home_domain = "pay.example"; });
  app.clock.advance_ms(1'234);
  const Credentials& own = app.me().credentials();
  const Reply signed_in = app.anonymous().post(
      kSignIn, {{"publicKey", own.public_key}, {"secret", own.sign_in_secret}});
  const Json login = challenge_login(app, own);
  for (const Json& session : {login, signed_in.json(), refresh(app, login).json()}) {
    const std::string token = session.at("idToken");
    const auto first = token.find('.') + 1;
    const Json claims =
        Json::parse(from_base64url(token.substr(first, token.rfind('.') - first)).value());
    INFO(claims.dump());
    CHECK(claims.at("iss") == "https://pay.example" + kChallenge);
    CHECK(claims.at("sub") == own.public_key);
    CHECK(claims.at("application") == own.application.to_string());
    CHECK(claims.at("iat") == app.clock.now().ms / 1000);
    CHECK(claims.at("exp") == app.clock.now().ms / 1000 + 3'600);
  }
}

TEST_CASE("pages of any origin may use the challenge routes and stellar.toml") {
  TestApp app;
  const std::string toml = "/.well-known/stellar.toml";
  struct Row {
    const char* method;
    std::string target;
    int status;
  };
  const std::string account = "?account=" + app.me().credentials().public_key;
  const Row rows[] = {{"GET", kChallenge + account, 200},
                      {"GET", "/gw" + kChallenge + account, 200},
                      {"GET", kChallenge, 400},
                      {"POST", kChallenge, 415},
                      {"PUT", kChallenge, 405},
                      {"OPTIONS", kChallenge, 204},
                      {"OPTIONS", "/gw" + kChallenge, 204},
                      {"HEAD", kChallenge + account, 200},
                      {"GET", toml, 200},
                      {"OPTIONS", toml, 204},
                      {"POST", toml, 405}};
  for (const Row& row : rows) {
    const Reply reply = app.anonymous().send({row.method, row.target, {}, {}});
    INFO(row.method << " " << row.target << " " << reply.text());
    CHECK(reply.status == row.status);
    CHECK(reply.header("Access-Control-Allow-Origin") == "*");
    if (std::string(row.method) == "OPTIONS") {
      CHECK(reply.header("Access-Control-Allow-Methods") == reply.header("Allow"));
      CHECK_THAT(reply.header("Access-Control-Allow-Headers"),
                 Catch::Matchers::Contains("Content-Type"));
    }
  }
  for (const std::string& other : {kSignIn, std::string("/v1/wallets")}) {
    CHECK(app.anonymous().get(other).header("Access-Control-Allow-Origin").empty());
  }
}

TEST_CASE("problems of the challenge routes have the error that SEP-10 clients read") {
  TestApp app;
  const std::string stranger = auth::generate_key_pair(app.random).public_key.to_string();
  const Reply replies[] = {
      app.anonymous().get(kChallenge), app.anonymous().get("/gw" + kChallenge + "?account=x"),
      app.anonymous().get(kChallenge + "?account=" + stranger), submit(app, "nonsense"),
      app.anonymous().send({"PUT", kChallenge, {}, {}})};
  for (const Reply& reply : replies) {
    INFO(reply.text());
    CHECK(reply.status >= 400);
    CHECK(reply.json().at("error") == reply.json().at("detail"));
  }
  CHECK_FALSE(app.anonymous().post(kSignIn, Json::object()).json().contains("error"));
  struct Row {
    const char* accept;
    const char* type;
  };
  const Row rows[] = {{"application/json", "application/json"},
                      {"text/html, Application/JSON;q=0.9", "application/json"},
                      {"application/json, application/problem+json;q=0", "application/json"},
                      {"application/json, application/problem+json", "application/problem+json"},
                      {"application/json;q=0", "application/problem+json"},
                      {"application/jsonx", "application/problem+json"},
                      {"*/*", "application/problem+json"}};
  for (const Row& row : rows) {
    INFO(row.accept);
    const Reply reply = app.anonymous().send({"GET", kChallenge, {{"Accept", row.accept}}, {}});
    CHECK(reply.header("Content-Type") == row.type);
  }
}

TEST_CASE("requesting challenges writes nothing") {
  TestApp app;
  const std::int64_t before = commits(app);
  for (int i = 0; i < 5; ++i) {
    app.anonymous().get(kChallenge + "?account=" + app.me().credentials().public_key);
  }
  CHECK(commits(app) == before);
}

TEST_CASE("parameters of a challenge request") {
  TestApp app([](Config& config) { config.home_domain = "pay.example"; });
  const Names names{{"key", app.me().credentials().public_key},
                    {"unregistered", auth::generate_key_pair(app.random).public_key.to_string()}};
  const auto get = [](const std::string& name, const std::string& query, int status,
                      std::vector<std::string> fields = {}) {
    return Scenario{.name = name,
                    .target = kChallenge + query,
                    .body = "",
                    .status = status,
                    .slug = status == 400   ? "malformed-request"
                            : status == 404 ? "not-found"
                                            : "",
                    .fields = std::move(fields),
                    .method = "GET"};
  };
  run_scenarios(
      app.anonymous(),
      {
          get("ours", "?account=$key&home_domain=pay.example", 200),
          get("no account", "", 400, {"account"}),
          get("no key", "?account=G123", 400, {"account"}),
          get("a seed", "?account=S$key", 400, {"account"}),
          get("not registered", "?account=$unregistered", 404),
          get("another domain", "?account=$key&home_domain=pay.example.org", 400, {"home_domain"}),
          get("a memo", "?account=$key&memo=7", 400, {"memo"}),
          get("all wrong", "?account=x&home_domain=y&memo=7", 400,
              {"account", "home_domain", "memo"}),
      },
      names);
}

TEST_CASE("the challenge contains the configured domains") {
  TestApp app([](Config& config) {
    config.home_domain = "pay.example";
    config.web_auth_domain = "login.pay.example";
    config.network_passphrase = "Our \"own\" \\ ledger";
  });
  const Json reply =
      app.anonymous().get(kChallenge + "?account=" + app.me().credentials().public_key).json();
  CHECK(reply.at("network_passphrase") == "Our \"own\" \\ ledger");
  const auth::Transaction transaction = envelope_of(reply.at("transaction")).transaction;
  CHECK(transaction.operations[0].name == "pay.example auth");
  CHECK(transaction.operations[1].value == "login.pay.example");
  check_session(app, app.me().credentials(),
                submit(app, signed_challenge(app, app.me().credentials())));
  const Reply toml = app.anonymous().get("/.well-known/stellar.toml");
  CHECK_THAT(toml.body, Catch::Matchers::Contains(
                            "WEB_AUTH_ENDPOINT = \"https://login.pay.example" + kChallenge + "\""));
  CHECK_THAT(toml.body, Catch::Matchers::Contains(R"(= "Our \"own\" \\ ledger")"));
}

TEST_CASE("stellar.toml contains key, network and endpoint of the listener") {
  TestApp app([](Config& config) { config.home_domain.clear(); });
  app.listen();
  const Reply toml = app.anonymous().over_wire().get("/.well-known/stellar.toml");
  CHECK(toml.status == 200);
  CHECK_THAT(toml.header("Content-Type"), Catch::Matchers::StartsWith("text/plain"));
  CHECK(toml.header("Access-Control-Allow-Origin") == "*");
  const std::string address = "127.0.0.1:" + std::to_string(app.core().listeners().port());
  CHECK_THAT(toml.body,
             Catch::Matchers::Contains("WEB_AUTH_ENDPOINT = \"http://" + address + kChallenge));
  CHECK_THAT(toml.body,
             Catch::Matchers::Contains("NETWORK_PASSPHRASE = \"COFFER ; embedded ledger\""));
  const Json challenge =
      app.anonymous().get(kChallenge + "?account=" + app.me().credentials().public_key).json();
  const auth::Transaction transaction = envelope_of(challenge.at("transaction")).transaction;
  CHECK(transaction.operations[0].name == address + " auth");
  CHECK(transaction.operations[1].value == address);
  CHECK_THAT(toml.body,
             Catch::Matchers::Contains("SIGNING_KEY = \"" + transaction.source.to_string()));
  CHECK_THAT(toml.body, Catch::Matchers::StartsWith("VERSION = \"2.7.0\"\n"));
  CHECK_THAT(toml.body, Catch::Matchers::Contains("[DOCUMENTATION]\nORG_NAME = \"" + address +
                                                  "\"\nORG_URL = \"http://" + address + "\"\n"));
  const Json assets = app.me().get("/v1/assets").json().at("data");
  for (const Json& asset : assets) {
    CHECK_THAT(toml.body, Catch::Matchers::Contains(
                              "[[CURRENCIES]]\ncode = " + asset.at("code").dump() +
                              "\nissuer = " + asset.at("issuer").dump() +
                              "\ndisplay_decimals = " + asset.at("decimals").dump() + "\n"));
  }
}

TEST_CASE("the signing key survives a restart, and so do the challenges it signed") {
  TestApp app;
  const Credentials own = app.me().credentials();
  const Reply before = app.anonymous().get("/.well-known/stellar.toml");
  const std::string challenge = signed_challenge(app, own);
  const std::string used = signed_challenge(app, own);
  CHECK(submit(app, used).status == 200);
  app.restart();
  CHECK(app.anonymous().get("/.well-known/stellar.toml").body == before.body);
  CHECK(submit(app, challenge).status == 200);
  check_rejected(submit(app, used), 400, "invalid-challenge");
}

TEST_CASE("a challenge can be used once, even if it is signed again") {
  TestApp app;
  const std::string challenge = signed_challenge(app, app.me().credentials());
  CHECK(submit(app, challenge).status == 200);
  check_rejected(submit(app, challenge), 400, "invalid-challenge");
  auth::Envelope envelope = envelope_of(challenge);
  std::swap(envelope.signatures[0], envelope.signatures[1]);
  check_rejected(
      submit(app, to_base64(auth::write_envelope(envelope.transaction_xdr, envelope.signatures))),
      400, "invalid-challenge");
}

TEST_CASE("every invalid challenge is 400 invalid-challenge") {
  TestApp app;
  const Credentials& own = app.me().credentials();
  const Client other = app.stranger();
  const Json fresh = app.anonymous().get(kChallenge + "?account=" + own.public_key).json();
  const std::string unsigned_one = fresh.at("transaction");
  const std::string passphrase = fresh.at("network_passphrase");
  const std::string seed = own.secret_seed;
  const std::string good = sign_challenge(unsigned_one, passphrase, seed);
  const auto forged = [&] {
    // A transaction of the client, signed with another server key.
    auth::Transaction transaction = envelope_of(unsigned_one).transaction;
    transaction.source = auth::PublicKey::parse(other.credentials().public_key).value();
    transaction.operations[1].source = transaction.source;
    const std::string xdr = auth::write_transaction(transaction);
    return to_base64(auth::write_envelope(
        xdr, {decorated_signature(key_of(other.credentials().secret_seed), xdr, passphrase),
              decorated_signature(key_of(seed), xdr, passphrase)}));
  };
  for (const std::string& bad :
       {unsigned_one, sign_challenge(unsigned_one, passphrase, other.credentials().secret_seed),
        sign_challenge(unsigned_one, "Another network", seed),
        sign_challenge(good, passphrase, seed),
        sign_challenge(good, passphrase, other.credentials().secret_seed), forged(),
        std::string("nonsense"), good.substr(0, 400), std::string(5'000, 'A'),
        std::string(51'204, 'A')}) {
    INFO(bad.substr(0, 60));
    check_rejected(submit(app, bad), 400, "invalid-challenge");
  }
  app.clock.advance_ms(901'000);
  check_rejected(submit(app, good), 400, "invalid-challenge");
}

TEST_CASE("used challenges are deleted after their expiry, and stay rejected") {
  TestApp app;
  const Credentials& own = app.me().credentials();
  const std::string used = signed_challenge(app, own);
  CHECK(submit(app, used).status == 200);
  app.clock.advance_ms(2'000'000);
  challenge_login(app, own);
  check_rejected(submit(app, used), 400, "invalid-challenge");
}

TEST_CASE("malformed bodies are 400 with the field") {
  TestApp app;
  run_scenarios(
      app.anonymous(),
      {{"none", kChallenge, "{}", 400, "malformed-request", {"transaction"}},
       {"a number", kChallenge, R"({"transaction":7})", 400, "malformed-request", {"transaction"}},
       {"sign-in", kSignIn, "{}", 400, "malformed-request", {"publicKey", "secret"}},
       {"refresh", kRefresh, "{}", 400, "malformed-request", {"refreshToken"}}});
}

TEST_CASE("sign-in gives the same session in one request") {
  TestApp app;
  check_session(app, app.me().credentials(), sign_in(app, app.me().credentials()));
  Credentials wrong = app.me().credentials();
  wrong.sign_in_secret = "si_wrong";
  const Reply first = sign_in(app, wrong);
  check_rejected(first, 401, "unauthorized");
  CHECK_FALSE(first.header("WWW-Authenticate").empty());
  wrong.public_key = auth::generate_key_pair(app.random).public_key.to_string();
  CHECK(without_identity(sign_in(app, wrong)) == without_identity(first));
}

TEST_CASE("failed sign-ins lead to increasing delays") {
  TestApp app([](Config& config) { config.rate_limit_login_per_min = 60; });
  Credentials wrong = app.me().credentials();
  wrong.sign_in_secret = "si_wrong";
  for (int i = 0; i < 4; ++i) check_rejected(sign_in(app, wrong), 401, "unauthorized");
  const Reply limited = sign_in(app, wrong);
  check_rejected(limited, 429, "rate-limited");
  CHECK(limited.header("Retry-After") == "1");
  // The right secret has 256 random bits, which cannot be guessed, so failures never block it.
  CHECK(sign_in(app, app.me().credentials()).status == 200);
}

TEST_CASE("suspension and rotation end sessions, and no new one starts") {
  TestApp app;
  const Credentials own = app.register_application(app.association());
  const Json session = challenge_login(app, own);
  const std::string challenge = signed_challenge(app, own);
  flows::suspend_application(app.flows(), own.application, true).value();
  check_rejected(with_token(app, own, session).get("/v1/wallets"), 401, "unauthorized");
  check_rejected(refresh(app, session), 401, "unauthorized");
  check_rejected(submit(app, challenge), 401, "unauthorized");
  check_rejected(sign_in(app, own), 401, "unauthorized");
  flows::suspend_application(app.flows(), own.application, false).value();
  // The rejected challenge is still usable; the ended session stays ended.
  CHECK(submit(app, challenge).status == 200);
  check_rejected(refresh(app, session), 401, "unauthorized");

  const Json later = challenge_login(app, own);
  flows::rotate_application(app.flows(), own.application).value();
  check_rejected(with_token(app, own, later).get("/v1/wallets"), 401, "unauthorized");
  check_rejected(refresh(app, later), 401, "unauthorized");
  check_rejected(sign_in(app, own), 401, "unauthorized");
}

TEST_CASE("a refresh gives a new session, and its token can be used once") {
  TestApp app;
  const Credentials& own = app.me().credentials();
  const Json first = challenge_login(app, own);
  app.clock.advance_ms(3'600'000);
  check_rejected(with_token(app, own, first).get("/v1/wallets"), 401, "token-expired");
  const Reply second = refresh(app, first);
  check_session(app, own, second);
  CHECK(second.json().at("refreshToken") != first.at("refreshToken"));
  const Reply third = refresh(app, second.json());
  check_session(app, own, third);
}

TEST_CASE("a used refresh token that is presented again ends all tokens of the login") {
  TestApp app;
  const Json first = challenge_login(app, app.me().credentials());
  const Json other_login = challenge_login(app, app.me().credentials());
  const Json second = refresh(app, first).json();
  const Json third = refresh(app, second).json();
  check_rejected(refresh(app, first), 401, "unauthorized");
  check_rejected(refresh(app, third), 401, "unauthorized");
  check_rejected(refresh(app, second), 401, "unauthorized");
  CHECK(refresh(app, other_login).status == 200);
}

TEST_CASE("an unknown refresh token has no effect") {
  TestApp app;
  const Json session = challenge_login(app, app.me().credentials());
  std::string changed = session.at("refreshToken");
  changed.back() = changed.back() == '0' ? '1' : '0';
  check_rejected(app.anonymous().post(kRefresh, {{"refreshToken", changed}}), 401, "unauthorized");
  check_rejected(app.anonymous().post(kRefresh, {{"refreshToken", session.at("idToken")}}), 401,
                 "unauthorized");
  CHECK(refresh(app, session).status == 200);
}

TEST_CASE("a refresh token lasts 30 days from its own issue") {
  TestApp app;
  Json session = challenge_login(app, app.me().credentials());
  app.clock.advance_ms(30 * kDayMs - 1);
  session = refresh(app, session).json();
  app.clock.advance_ms(30 * kDayMs);
  check_rejected(refresh(app, session), 401, "unauthorized");
}

TEST_CASE("a login rejected because of a full disk leaves challenge and refresh token usable") {
  TestApp app;
  const Credentials& own = app.me().credentials();
  const Json session = challenge_login(app, own);
  const std::string challenge = signed_challenge(app, own);
  {
    const ArmedFault fault("queue.full=fail");
    check_rejected(submit(app, challenge), 503, "overloaded");
  }
  {
    const ArmedFault fault("queue.full=fail");
    check_rejected(refresh(app, session), 503, "overloaded");
  }
  CHECK(submit(app, challenge).status == 200);
  CHECK(refresh(app, session).status == 200);
}

TEST_CASE("no secret of a login reaches the log") {
  TestApp app;
  const Credentials& own = app.me().credentials();
  const Json session = challenge_login(app, own);
  refresh(app, session);
  for (const std::string& secret :
       {own.secret_seed, own.sign_in_secret, session.at("refreshToken").get<std::string>(),
        session.at("idToken").get<std::string>()}) {
    CHECK(app.log().find(secret) == std::string::npos);
  }
}

}  // namespace challenge_login_test
