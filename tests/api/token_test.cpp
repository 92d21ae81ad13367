// POST /v1/auth/token and POST /v1/oauth/token: client credentials as JSON and as OAuth 2, and the
// response of each rejection.
#include <catch2/catch.hpp>

#include "base/digest.h"
#include "support/scenario.h"
#include "support/test_app.h"

using namespace coffer;
using namespace coffer::test;

namespace {

const std::string kToken = "/v1/auth/token";
const std::string kOAuth = "/v1/oauth/token";
const std::string kForm = "application/x-www-form-urlencoded";

Reply post_form(const Client& client, const std::string& body, HeaderList headers = {}) {
  headers.emplace_back("Content-Type", kForm);
  return client.send({"POST", kOAuth, std::move(headers), body});
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

TEST_CASE("the OAuth 2 call gets exactly the members of RFC 6749") {
  TestApp app;
  const Reply reply = post_form(app.anonymous(), credentials_form(app.me().credentials()));
  REQUIRE(reply.status == 200);
  const Json token = reply.json();
  CHECK(token.size() == 4);
  CHECK(token.at("token_type") == "Bearer");
  CHECK(token.at("expires_in") == 3600);
  CHECK_THAT(token.at("scope").get<std::string>(), Catch::Matchers::Contains("payments:write"));
  CHECK(reply.header("Cache-Control") == "no-store");
  CHECK(reply.header("Pragma") == "no-cache");
  check_works(app, app.me().credentials(), token.at("access_token"));
}

TEST_CASE("the JSON call ignores members and headers of OAuth") {
  TestApp app;
  Json body = app.me().token_request();
  body["grant_type"] = "password";
  body["client_id"] = "another";
  const Reply reply = app.anonymous().with("Authorization", basic("a", "b")).post(kToken, body);
  INFO(reply.text());
  CHECK(reply.status == 200);
  CHECK(reply.json().size() == 4);
  const Reply snake = app.anonymous().post(
      kToken, {{"client_id", body.at("clientId")}, {"client_secret", body.at("clientSecret")}});
  CHECK(snake.fields() == std::vector<std::string>{"clientId", "clientSecret"});
}

TEST_CASE("each token call names the other for the other media type") {
  TestApp app;
  const std::string form = credentials_form(app.me().credentials());
  const Reply json = app.anonymous().send({"POST", kToken, {{"Content-Type", kForm}}, form});
  CHECK(json.status == 415);
  CHECK_THAT(json.body, Catch::Matchers::Contains("POST /v1/oauth/token"));
  const Reply oauth = app.anonymous().post(kOAuth, app.me().token_request());
  CHECK(oauth.status == 415);
  CHECK(oauth.json().at("error") == "invalid_request");
  CHECK_THAT(oauth.body, Catch::Matchers::Contains("POST /v1/auth/token"));
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
  CHECK_THAT(wrong.header("WWW-Authenticate"), Catch::Matchers::StartsWith("Basic realm="));
  CHECK_THAT(wrong.header("WWW-Authenticate"), !Catch::Matchers::Contains("Bearer"));
}

TEST_CASE("the OAuth 2 call accepts one client authentication and each parameter once") {
  TestApp app;
  const Credentials& own = app.me().credentials();
  const std::string form = credentials_form(own), grant = "grant_type=client_credentials";
  const HeaderList right{{"Authorization", basic(own.client_id, own.client_secret)}};
  struct Row {
    std::string form;
    HeaderList headers;
    int status;
    std::vector<std::string> fields;
  };
  const Row rows[] = {
      {form, right, 400, {"client_secret"}},
      {grant + "&client_id=other", right, 400, {"client_id"}},
      {grant + "&client_id=" + own.client_id, right, 200, {}},
      {form + "&client_secret=x", {}, 400, {"client_secret"}},
      {form + "&scope=wallets:read&scope=quotes:read", {}, 400, {"scope"}},
      {form + "&" + grant, {}, 400, {"grant_type"}},
      {form + "&unknown=1&unknown=2", {}, 400, {"unknown"}},
      {form + "&unknown=1", {}, 200, {}},
      {form + "&scope=&&", {}, 200, {}},
      {grant + "&client_id=&client_secret=", {}, 400, {"client_id", "client_secret"}},
      {form + "&x=%zz", {}, 400, {}},
      {form + "&x=%ff", {}, 400, {}},
      {grant, {{"Authorization", "Basic !"}}, 401, {}},
      {form, {{"Authorization", "Bearer stale"}}, 200, {}},
  };
  for (const Row& row : rows) {
    const Reply reply = post_form(app.anonymous(), row.form, row.headers);
    INFO(row.form << " -> " << reply.text());
    CHECK(reply.status == row.status);
    if (row.status != 200) {
      CHECK(reply.fields() == row.fields);
      const char* code = row.status == 401 ? "invalid_client" : "invalid_request";
      CHECK(reply.json().at("error") == code);
    }
  }
}

TEST_CASE("OAuth and SEP-10 clients that ask for application/json get it, also for errors") {
  TestApp app;
  struct Row {
    const char* accept;
    const char* type;
  };
  const Row rows[] = {{"application/json", "application/json"},
                      {"Application/JSON; charset=utf-8, */*", "application/json"},
                      {"application/json, application/problem+json", "application/problem+json"},
                      {"application/problem+json", "application/problem+json"},
                      {"*/*", "application/problem+json"}};
  for (const Row& row : rows) {
    INFO(row.accept);
    const Client client = app.anonymous().with("Accept", row.accept);
    CHECK(post_form(client, "").header("Content-Type") == row.type);
    CHECK(client.get("/v1/public/auth-connect").header("Content-Type") == row.type);
    CHECK(client.get(kToken).header("Content-Type") == "application/problem+json");
  }
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
      {own + "&scope=%22%5C%C3%A9%0A", 400, "invalid_scope"},
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
    CHECK(reply.header("Cache-Control") == "no-store");
    // oauth4webapi and openid-client read no `error` beside a challenge.
    CHECK(reply.header("WWW-Authenticate").empty());
    for (const char c : body.at("error_description").get<std::string>()) {
      CHECK((c >= 0x20 && c <= 0x7e && c != '"' && c != '\\'));
    }
  }
}

TEST_CASE("problems before the handler have an OAuth error too") {
  TestApp app;
  for (const std::string& mount : {std::string(), std::string("/gw")}) {
    const Reply method = app.anonymous().get(mount + kOAuth);
    CHECK(method.status == 405);
    CHECK(method.json().at("error") == "invalid_request");
    const Reply query = app.anonymous().send(
        {"POST", mount + kOAuth + "?client_id=a", {{"Content-Type", kForm}}, ""});
    CHECK(query.status == 400);
    CHECK(query.json().at("error") == "invalid_request");
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
