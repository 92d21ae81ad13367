// POST /v1/auth/token: client credentials in every form, and the response of each rejection.
#include <catch2/catch.hpp>

#include "base/digest.h"
#include "support/scenario.h"
#include "support/test_app.h"

using namespace coffer;
using namespace coffer::test;

namespace {

const std::string kToken = "/v1/auth/token";
const std::string kForm = "application/x-www-form-urlencoded";

Reply post_form(const Client& client, const std::string& body, HeaderList headers = {}) {
  headers.emplace_back("Content-Type", kForm);
  return client.send({"POST", kToken, std::move(headers), body});
}

std::string credentials_form(const Credentials& credentials) {
  return "grant_type=client_credentials&client_id=" + escaped(credentials.client_id) +
         "&client_secret=" + escaped(credentials.client_secret);
}

std::string basic(const std::string& id, const std::string& secret) {
  return "Basic " + to_base64(escaped(id) + ":" + escaped(secret));
}

/// The token opens a protected route together with the API key.
void check_works(TestApp& app, const Credentials& credentials, const std::string& token) {
  const Reply reply = app.anonymous()
                          .with("x-svc-auth", credentials.api_key)
                          .with("Authorization", "Bearer " + token)
                          .get("/v1/assets");
  INFO(reply.text());
  CHECK(reply.status == 200);
}

}  // namespace

TEST_CASE("a JSON call gets exactly the four members of the contract") {
  TestApp app;
  const Reply reply = app.anonymous().post(kToken, app.me().token_request());
  REQUIRE(reply.status == 200);
  const Json token = reply.json();
  CHECK(token.size() == 4);
  CHECK(token.at("tokenType") == "Bearer");
  CHECK(token.at("expiresIn") == 3600);
  CHECK(token.at("associationId") == app.association().to_string());
  CHECK(reply.header("Cache-Control") == "no-store");
  check_works(app, app.me().credentials(), token.at("accessToken"));
}

TEST_CASE("the token lifetime is a setting") {
  TestApp app([](Config& config) { config.token_lifetime_s = 60; });
  CHECK(app.anonymous().post(kToken, app.me().token_request()).json().at("expiresIn") == 60);
  app.clock.advance_ms(59'999);
  CHECK(app.me().get("/v1/assets").status == 200);
  app.clock.advance_ms(1);
  CHECK(app.me().get("/v1/assets").slug() == "token-expired");
}

TEST_CASE("a form call is the OAuth 2 client credentials grant") {
  TestApp app;
  const Reply reply = post_form(app.anonymous(), credentials_form(app.me().credentials()));
  REQUIRE(reply.status == 200);
  const Json token = reply.json();
  CHECK(token.at("access_token") == token.at("accessToken"));
  CHECK(token.at("token_type") == "Bearer");
  CHECK(token.at("expires_in") == 3600);
  CHECK(token.at("associationId") == app.association().to_string());
  CHECK_THAT(token.at("scope").get<std::string>(), Catch::Matchers::Contains("payments:write"));
  check_works(app, app.me().credentials(), token.at("access_token"));
}

TEST_CASE("a form call accepts the credentials by HTTP Basic") {
  TestApp app;
  const Credentials& own = app.me().credentials();
  const HeaderList headers{{"Authorization", basic(own.client_id, own.client_secret)}};
  const Reply reply = post_form(app.anonymous(), "grant_type=client_credentials", headers);
  REQUIRE(reply.status == 200);
  check_works(app, own, reply.json().at("access_token"));
  const Reply wrong = post_form(app.anonymous(), "grant_type=client_credentials",
                                {{"Authorization", basic(own.client_id, "nonsense")}});
  CHECK(wrong.status == 401);
  CHECK(wrong.json().at("error") == "invalid_client");
}

TEST_CASE("x-svc-auth is optional on the token call and checked when sent") {
  TestApp app;
  const Client other = app.stranger();
  const Json body = app.me().token_request();
  const auto with_key = [&](const std::string& key) {
    return app.anonymous().with("x-svc-auth", key).post(kToken, body);
  };
  CHECK(with_key(app.me().credentials().api_key).status == 200);
  CHECK(with_key("ak_wrong").status == 401);
  CHECK(with_key(other.credentials().api_key).status == 401);
}

TEST_CASE("all wrong credentials get the same response") {
  TestApp app;
  Json wrong_secret = app.me().token_request();
  wrong_secret["clientSecret"] = "sk_wrong";
  Json unknown_client = app.me().token_request();
  unknown_client["clientId"] = "app_unknown";
  const Reply first = app.anonymous().post(kToken, wrong_secret);
  const Reply second = app.anonymous().post(kToken, unknown_client);
  CHECK(first.status == 401);
  CHECK(first.slug() == "unauthorized");
  CHECK_FALSE(first.header("WWW-Authenticate").empty());
  CHECK(without_identity(first) == without_identity(second));
  CHECK_THAT(first.body, !Catch::Matchers::Contains("sk_wrong"));
}

TEST_CASE("a suspended application gets no token, a resumed one does") {
  TestApp app;
  const Credentials own = app.me().credentials();
  flows::suspend_application(app.flows(), own.application, true).value();
  const Reply reply = app.anonymous().post(kToken, app.me().token_request());
  CHECK(reply.status == 401);
  CHECK(reply.slug() == "unauthorized");
  flows::suspend_application(app.flows(), own.application, false).value();
  CHECK(app.anonymous().post(kToken, app.me().token_request()).status == 200);
}

TEST_CASE("a rotation replaces the client secret immediately") {
  TestApp app;
  const Credentials own = app.me().credentials();
  const auto rotated = flows::rotate_application(app.flows(), own.application).value();
  CHECK(app.anonymous().post(kToken, app.me().token_request()).status == 401);
  const Json body{{"clientId", rotated.secrets.client_id},
                  {"clientSecret", rotated.secrets.client_secret.reveal()}};
  CHECK(app.anonymous().post(kToken, body).status == 200);
}

TEST_CASE("a token may have fewer scopes") {
  TestApp app;
  const Client reader = app.me().scoped("wallets:read transactions:read");
  CHECK(reader.get("/v1/wallets").status == 200);
  CHECK(reader.get("/v1/transactions").status == 200);
  const Reply reply = reader.post("/v1/wallets", {{"walletName", "x"}, {"assetCode", "USDC"}});
  CHECK(reply.status == 403);
  CHECK(reply.slug() == "insufficient-scope");
  CHECK_THAT(reply.json().at("detail").get<std::string>(),
             Catch::Matchers::Contains("wallets:write"));
}

TEST_CASE("a token of a restricted application has the application's scopes") {
  TestApp app;
  const ScopeSet scopes = ScopeSet().with(Scope::wallets_read).with(Scope::statements_read);
  const Credentials own = app.register_application(app.association(), Environment::sandbox, scopes);
  const Json token = post_form(app.anonymous(), credentials_form(own)).json();
  CHECK(token.at("scope") == "wallets:read statements:read");
  const Reply more =
      post_form(app.anonymous(), credentials_form(own) + "&scope=wallets%3Aread+payments%3Awrite");
  CHECK(more.status == 400);
  CHECK(more.json().at("error") == "invalid_scope");
  CHECK(more.fields() == std::vector<std::string>{"scope"});
}

TEST_CASE("an application without an association gets a token without access") {
  TestApp app;
  const Credentials own = app.register_application(std::nullopt);
  const Json token =
      app.anonymous()
          .post(kToken, {{"clientId", own.client_id}, {"clientSecret", own.client_secret}})
          .json();
  CHECK(token.at("associationId").is_null());
  const Reply reply =
      app.anonymous()
          .with("x-svc-auth", own.api_key)
          .with("Authorization", "Bearer " + token.at("accessToken").get<std::string>())
          .get("/v1/wallets");
  CHECK(reply.status == 403);
  CHECK(reply.slug() == "no-association");
}

TEST_CASE("malformed token calls") {
  TestApp app;
  const Names names{{"id", app.me().credentials().client_id},
                    {"secret", app.me().credentials().client_secret}};
  run_scenarios(
      app.anonymous(),
      {
          {"nothing", kToken, "{}", 400, "malformed-request", {"clientId", "clientSecret"}},
          {"no secret",
           kToken,
           R"({"clientId":"$id"})",
           400,
           "malformed-request",
           {"clientSecret"}},
          {"null secret",
           kToken,
           R"({"clientId":"$id","clientSecret":null})",
           400,
           "malformed-request",
           {"clientSecret"}},
          {"blank id",
           kToken,
           R"({"clientId":" ","clientSecret":"$secret"})",
           400,
           "malformed-request",
           {"clientId"}},
          {"wrong types",
           kToken,
           R"({"clientId":7,"clientSecret":[],"scope":{}})",
           400,
           "malformed-request",
           {"clientId", "clientSecret", "scope"}},
          {"unknown scope",
           kToken,
           R"({"clientId":"$id","clientSecret":"$secret","scope":"wallets:read money:print"})",
           400,
           "malformed-request",
           {"scope"},
           {"money:print"}},
          {"unknown members are ignored here", kToken,
           R"({"clientId":"$id","clientSecret":"$secret","idempotencyKey":"x"})", 200},
          {"an array", kToken, "[]", 400, "malformed-request"},
          {"a string", kToken, R"("id")", 400, "malformed-request"},
          {"broken", kToken, "{", 400, "malformed-request"},
          {"a member twice",
           kToken,
           R"({"clientId":"a","clientId":"b"})",
           400,
           "malformed-request",
           {},
           {"clientId"}},
      },
      names);
}

TEST_CASE("a rejected form call has an OAuth error next to the problem") {
  TestApp app;
  const std::string own = credentials_form(app.me().credentials());
  struct Row {
    std::string form;
    int status;
    std::string error;
  };
  const Row rows[] = {
      {"client_id=a&client_secret=b", 400, "invalid_request"},
      {"grant_type=password&client_id=a&client_secret=b", 400, "unsupported_grant_type"},
      {"grant_type=client_credentials", 400, "invalid_request"},
      {"grant_type=client_credentials&client_id=a&client_secret=b", 401, "invalid_client"},
      {own + "&scope=nonsense", 400, "invalid_scope"},
      {"", 400, "invalid_request"},
  };
  for (const Row& row : rows) {
    const Reply reply = post_form(app.anonymous(), row.form);
    INFO(row.form << " -> " << reply.text());
    CHECK(reply.status == row.status);
    CHECK(reply.header("Content-Type") == "application/problem+json");
    const Json body = reply.json();
    CHECK(body.at("error") == row.error);
    CHECK(body.at("status") == row.status);
    CHECK_FALSE(reply.slug().empty());
  }
}

TEST_CASE("other media types are rejected on the token call") {
  TestApp app;
  for (const char* type : {"text/plain", "application/xml", "multipart/form-data; boundary=x"}) {
    const Reply reply = app.anonymous().send(
        {"POST", kToken, {{"Content-Type", type}}, app.me().token_request().dump()});
    INFO(type);
    CHECK(reply.status == 415);
    CHECK(reply.slug() == "unsupported-media-type");
  }
  const Reply charset = app.anonymous().send({"POST",
                                              kToken,
                                              {{"Content-Type", "Application/JSON; charset=utf-8"}},
                                              app.me().token_request().dump()});
  CHECK(charset.status == 200);
}
