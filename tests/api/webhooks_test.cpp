// Registrations in both route families: validation, claims of event types, and secrets.
#include <catch2/catch.hpp>

#include "support/receiver.h"
#include "support/scenario.h"
#include "support/test_app.h"

using namespace coffer;
using namespace coffer::test;

namespace {

Reply patch(const Client& client, const std::string& target, const Json& body) {
  return client.send({"PATCH", target, {}, body.dump()});
}
Reply remove(const Client& client, const std::string& target) {
  return client.send({"DELETE", target, {}, {}});
}

Json registration(const Json& types = {"*"}) {
  return {{"url", "http://127.0.0.1:9/hooks"}, {"eventTypes", types}};
}

std::string family(const Client& client) {
  return "/v1/application/" + client.credentials().application.to_string() + "/webhook";
}

const Json kPaymentTypes = {"payment.initiated",    "payment.processing",     "payment.succeeded",
                            "payment.failed",       "payment.refund_pending", "payment.refunded",
                            "payment.refund_failed"};

std::string with(const char* url, const char* types = R"(["*"])") {
  return std::string(R"({"url":")") + url + R"(","eventTypes":)" + types + "}";
}

}  // namespace

TEST_CASE("webhooks: a registration shows its secret once") {
  TestApp app;
  const Reply made = app.me().post("/v1/webhooks", registration());
  INFO(made.text());
  REQUIRE(made.status == 201);
  const Json webhook = made.json();
  CHECK(webhook.at("eventTypes") == kPaymentTypes);
  CHECK(webhook.at("status") == "active");
  CHECK(webhook.at("environment") == "sandbox");
  CHECK(webhook.at("method") == "POST");
  CHECK(webhook.at("description").is_null());
  const std::string secret = webhook.at("secret");
  CHECK(secret.starts_with("whsec_"));
  const std::string one = "/v1/webhooks/" + webhook.at("id").get<std::string>();
  for (const std::string& target : {one, std::string("/v1/webhooks"), family(app.me())}) {
    const Reply reply = app.me().get(target);
    CHECK(reply.status == 200);
    CHECK_THAT(reply.body, !Catch::Matchers::Contains("whsec_"));
  }
  CHECK_THAT(app.log(), !Catch::Matchers::Contains("whsec_"));
}

TEST_CASE("webhooks: required fields of a registration") {
  TestApp app;
  const char* const good = "http://127.0.0.1/hooks";
  const std::vector<Scenario> rows = {
      {"no url", "/v1/webhooks", R"({"eventTypes":["*"]})", 400, "malformed-request", {"url"}},
      {"no types",
       "/v1/webhooks",
       R"({"url":"http://127.0.0.1/"})",
       400,
       "malformed-request",
       {"eventTypes"}},
      {"types are no list",
       "/v1/webhooks",
       with(good, R"("*")"),
       400,
       "malformed-request",
       {"eventTypes"}},
      {"a type is no text",
       "/v1/webhooks",
       with(good, "[1]"),
       400,
       "malformed-request",
       {"eventTypes[0]"}},
      {"an empty list", "/v1/webhooks", with(good, "[]"), 400, "malformed-request", {"eventTypes"}},
      {"an unknown type",
       "/v1/webhooks",
       with(good, R"(["payment.succeeded","payment.paid"])"),
       422,
       "validation-failed",
       {"eventTypes[1]"}},
      {"a test is no type",
       "/v1/webhooks",
       with(good, R"(["webhook.test"])"),
       422,
       "validation-failed",
       {"eventTypes[0]"}},
      {"another method",
       "/v1/webhooks",
       R"({"url":"http://127.0.0.1/","eventTypes":["*"],"method":"PUT"})",
       422,
       "validation-failed",
       {"method"}},
  };
  run_scenarios(app.me(), rows);
  CHECK(app.me().all("/v1/webhooks").empty());
}

TEST_CASE("webhooks: targets that are rejected immediately") {
  TestApp app;
  const std::vector<Scenario> rows = {
      {"a private address",
       "/v1/webhooks",
       with("http://192.168.1.7/"),
       422,
       "webhook-target-refused",
       {"url"}},
      {"loopback beside the one that is open",
       "/v1/webhooks",
       with("http://127.0.0.2/"),
       422,
       "webhook-target-refused",
       {"url"}},
      {"the metadata service",
       "/v1/webhooks",
       with("http://169.254.169.254/latest"),
       422,
       "webhook-target-refused",
       {"url"}},
      {"an address in disguise",
       "/v1/webhooks",
       with("http://2130706433/"),
       422,
       "webhook-target-refused",
       {"url"}},
      {"user names",
       "/v1/webhooks",
       with("http://a:b@127.0.0.1/"),
       422,
       "webhook-target-refused",
       {"url"}},
      {"no URL", "/v1/webhooks", with("hooks"), 422, "webhook-target-refused", {"url"}},
  };
  run_scenarios(app.me(), rows);
  CHECK(app.me().all("/v1/webhooks").empty());
}

TEST_CASE("webhooks: production accepts https only") {
  TestApp app;
  const Client production = app.production();
  const Reply plain =
      production.post("/v1/webhooks", {{"url", "http://127.0.0.1/"}, {"eventTypes", {"*"}}});
  CHECK(plain.status == 422);
  CHECK(plain.slug() == "webhook-target-refused");
  CHECK(production.post("/v1/webhooks", {{"url", "https://127.0.0.1/"}, {"eventTypes", {"*"}}})
            .status == 201);
  // Environments are separate: the same types are free in the sandbox, and neither sees the
  // other's.
  CHECK(app.me().post("/v1/webhooks", registration()).status == 201);
  CHECK(app.me().all("/v1/webhooks").size() == 1);
  CHECK(production.all("/v1/webhooks").size() == 1);
}

TEST_CASE("webhooks: one active webhook per event type, over both route families") {
  TestApp app;
  const Json first = app.me().post("/v1/webhooks", registration({"payment.failed"})).json();
  const Reply taken =
      app.me().post(family(app.me()), {{"url", "http://127.0.0.1:9/"}, {"method", "POST"}});
  CHECK(taken.status == 409);
  CHECK(taken.slug() == "webhook-event-type-taken");
  CHECK_THAT(taken.body, Catch::Matchers::Contains("payment.failed"));
  CHECK_THAT(taken.body, !Catch::Matchers::Contains("payment.succeeded"));

  // Another application of the association is the same association.
  const Client colleague(app, app.register_application(app.association()));
  CHECK(colleague.post("/v1/webhooks", registration({"payment.failed"})).status == 409);
  CHECK(app.stranger().post("/v1/webhooks", registration({"payment.failed"})).status == 201);

  const std::string one = "/v1/webhooks/" + first.at("id").get<std::string>();
  CHECK(remove(app.me(), one).status == 200);
  const Json all =
      app.me().post(family(app.me()), {{"url", "http://127.0.0.1:9/"}, {"method", "POST"}}).json();
  CHECK(all.at("eventTypes") == kPaymentTypes);
  CHECK(app.me().post("/v1/webhooks", registration({"payment.failed"})).status == 409);
  // Types outside a payment's lifecycle are free.
  CHECK(app.me().post("/v1/webhooks", registration({"wallet.status_changed"})).status == 201);
}

TEST_CASE("webhooks: a change keeps other fields and cannot take claimed types") {
  TestApp app;
  Json body = registration({"payment.failed"});
  body["description"] = "First";
  const std::string one =
      "/v1/webhooks/" + app.me().post("/v1/webhooks", body).json().at("id").get<std::string>();
  app.me().post("/v1/webhooks", registration({"payment.succeeded"}));

  app.clock.advance_ms(1'000);
  Json changed = patch(app.me(), one, {{"url", "http://127.0.0.1:9/moved"}}).json();
  CHECK(changed.at("url") == "http://127.0.0.1:9/moved");
  CHECK(changed.at("description") == "First");
  CHECK(changed.at("updatedAt") != changed.at("createdAt"));
  changed =
      patch(app.me(), one, {{"description", nullptr}, {"eventTypes", {"payment.refunded"}}}).json();
  CHECK(changed.at("description").is_null());
  CHECK(changed.at("eventTypes") == Json{"payment.refunded"});
  CHECK(app.me().post("/v1/webhooks", registration({"payment.failed"})).status == 201);

  const Reply taken = patch(app.me(), one, {{"eventTypes", {"payment.succeeded"}}});
  CHECK(taken.status == 409);
  CHECK(taken.slug() == "webhook-event-type-taken");
  CHECK(patch(app.me(), one, {{"status", "disabled"}}).status == 422);
  CHECK(patch(app.me(), one, {{"applicationId", one}}).status == 422);
  // A webhook can be sent back as it was read.
  const Json read = app.me().get(one).json();
  app.clock.advance_ms(1'000);
  Json same = patch(app.me(), one, read).json();
  same["updatedAt"] = read.at("updatedAt");
  CHECK(same == read);
  CHECK(patch(app.me(), one, {{"url", "http://10.1.1.1/"}}).slug() == "webhook-target-refused");
  CHECK(app.me().get(one).json().at("eventTypes") == Json{"payment.refunded"});
}

TEST_CASE("webhooks: disabling is permanent") {
  TestApp app;
  const Json made = app.me().post("/v1/webhooks", registration()).json();
  const std::string id = made.at("id"), one = "/v1/webhooks/" + id;
  const Json disabled = remove(app.me(), one).json();
  CHECK(disabled.at("status") == "disabled");
  CHECK(disabled.at("disabledReason") == "by_owner");
  CHECK(disabled.contains("disabledAt"));
  CHECK(remove(app.me(), one).json() == disabled);
  CHECK(app.me().get(one).json() == disabled);
  CHECK(patch(app.me(), one, {{"description", "back"}}).slug() == "conflict");
  CHECK(app.me().post(one + "/rotate-secret", Json::object()).status == 409);
  CHECK(app.me().send({"POST", one + "/test", {}, {}}).status == 409);
  CHECK(app.me().post(one + "/recover", {{"from", "2025-01-01"}}).status == 409);
  CHECK(app.me().all("/v1/webhooks?status=active").empty());
  CHECK(app.me().all("/v1/webhooks?status=disabled").size() == 1);
  CHECK(app.me().get("/v1/webhooks?status=asleep").status == 400);
}

TEST_CASE("webhooks: the application routes show and remove the application's webhooks") {
  TestApp app;
  const Client colleague(app, app.register_application(app.association()));
  const Json mine = app.me().post(family(app.me()), registration({"payment.failed"})).json();
  const std::string id = mine.at("id");
  CHECK(mine.at("applicationId") == app.me().credentials().application.to_string());
  CHECK(app.me().all(family(app.me())).size() == 1);
  CHECK(colleague.all(family(colleague)).empty());
  // Both applications belong to one association, so each can manage the other's webhooks.
  CHECK(colleague.all(family(app.me())).size() == 1);
  CHECK(patch(app.me(), family(colleague) + "/" + id, {{"description", "x"}}).status == 404);
  CHECK(patch(app.me(), family(app.me()) + "/" + id, {{"description", "x"}}).status == 200);
  CHECK(app.me().post(family(app.me()) + "/" + id + "/rotate-secret", Json::object()).status ==
        200);

  CHECK(remove(app.me(), family(app.me()) + "/" + id).status == 204);
  CHECK(remove(app.me(), family(app.me()) + "/" + id).status == 404);
  CHECK(app.me().all(family(app.me())).empty());
  CHECK(app.me().get("/v1/webhooks/" + id).json().at("status") == "disabled");
  CHECK(app.me().get("/v1/application/nonsense/webhook").status == 404);
}

TEST_CASE("webhooks: a rotation returns the new secret, with or without a body") {
  TestApp app;
  const Json made = app.me().post("/v1/webhooks", registration()).json();
  const std::string target = "/v1/webhooks/" + made.at("id").get<std::string>() + "/rotate-secret";
  const Json standard = app.me().send({"POST", target, {}, {}}).json();
  CHECK(standard.at("secret") != made.at("secret"));
  CHECK(standard.at("previousSecretValidUntil") == "2026-01-02T00:00:00.000Z");
  const Json at_once = app.me().post(target, {{"gracePeriodSeconds", 0}}).json();
  CHECK(at_once.at("secret") != standard.at("secret"));
  CHECK_FALSE(at_once.contains("previousSecretValidUntil"));
  CHECK(app.me().post(target, {{"gracePeriodSeconds", 604'800}}).status == 200);
  CHECK(app.me().post(target, {{"gracePeriodSeconds", 604'801}}).slug() == "validation-failed");
  CHECK(app.me().post(target, {{"gracePeriodSeconds", -1}}).status == 422);
  CHECK(app.me().post(target, {{"gracePeriodSeconds", "1"}}).status == 400);
  CHECK(app.me().post_text(target, R"({"gracePeriodSeconds":1.5})").status == 400);
}
