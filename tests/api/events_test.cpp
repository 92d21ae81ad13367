// Events for polling clients, and sample events.
#include <catch2/catch.hpp>

#include "support/receiver.h"
#include "support/scenario.h"
#include "support/test_app.h"

using namespace coffer;
using namespace coffer::test;

TEST_CASE("events: a poller gets every event once, oldest first, like a webhook") {
  TestApp app;
  Receiver receiver;
  app.me().post("/v1/webhooks", {{"url", receiver.url()}, {"eventTypes", {"*"}}});
  const std::string from = app.wallet("USDC", "10"), to = app.wallet("USDC");
  for (int i = 0; i < 3; ++i) app.me().transfer(from, to, "1");
  app.settle();
  const std::vector<Json> all = app.me().all("/v1/events?limit=2");
  REQUIRE(all.size() == 9);
  for (std::size_t i = 0; i < all.size(); ++i) {
    CHECK(all.at(i).at("sequence") == i + 1);
  }
  app.deliver();
  const auto requests = receiver.received();
  REQUIRE(requests.size() == 9);
  for (std::size_t i = 0; i < all.size(); ++i) CHECK(requests.at(i).json() == all.at(i));
  // Stored bytes give the same result.
  CHECK(app.me().all("/v1/events?limit=4") == all);

  const std::vector<Json> rest = app.me().all("/v1/events?afterSequence=7&limit=1");
  REQUIRE(rest.size() == 2);
  CHECK(rest.at(0).at("sequence") == 8);
  CHECK(app.me().all("/v1/events?afterSequence=9").empty());
  CHECK(app.me().all("/v1/events?type=payment.succeeded").size() == 3);
  CHECK(app.me().get("/v1/events/" + all.at(4).at("id").get<std::string>()).json() == all.at(4));
  CHECK(app.stranger().all("/v1/events").empty());
}

TEST_CASE("events: pages can be followed backwards, but not before the start of the list") {
  TestApp app;
  const std::string from = app.wallet("USDC", "10"), to = app.wallet("USDC");
  for (int i = 0; i < 6; ++i) app.me().transfer(from, to, "1");
  const Json first = app.me().get("/v1/events?afterSequence=2&limit=2").json();
  const auto turn = [&](const Json& page, const char* cursor) {
    return app.me()
        .get("/v1/events?afterSequence=2&limit=2&cursor=" + page.at(cursor).get<std::string>())
        .json();
  };
  const Json second = turn(first, "nextCursor");
  CHECK(second.at("data").at(0).at("sequence") == 5);
  CHECK_FALSE(second.at("hasMore").get<bool>());
  const Json back = turn(second, "prevCursor");
  CHECK(back.at("data") == first.at("data"));
  CHECK(back.at("prevCursor").is_null());
}

TEST_CASE("events: invalid polling requests") {
  TestApp app;
  const std::vector<Scenario> rows = {
      {"an invalid sequence",
       "/v1/events?afterSequence=x",
       "",
       400,
       "malformed-request",
       {"afterSequence"},
       {},
       "GET"},
      {"a negative one",
       "/v1/events?afterSequence=-1",
       "",
       400,
       "malformed-request",
       {"afterSequence"},
       {},
       "GET"},
      {"an unknown type",
       "/v1/events?type=payment.paid",
       "",
       400,
       "malformed-request",
       {"type"},
       {},
       "GET"},
      {"no such event", "/v1/events/nonsense", "", 404, "not-found", {}, {}, "GET"},
  };
  run_scenarios(app.me(), rows);
}

TEST_CASE("events: a sample of every type can be triggered, is marked, and has no other effect") {
  TestApp app;
  Receiver receiver;
  const Json types = app.me().get("/v1/payments/enums").json().at("eventType");
  Json codes = Json::array();
  for (const Json& type : types) codes.push_back(type.at("code"));
  REQUIRE(codes.size() == 11);
  app.me().post("/v1/webhooks", {{"url", receiver.url()}, {"eventTypes", codes}});
  for (const Json& code : codes) {
    const Reply reply = app.me().send(
        {"POST", "/v1/sandbox/events/" + code.get<std::string>() + "/trigger", {}, {}});
    INFO(reply.text());
    CHECK(reply.status == 202);
    CHECK(reply.json().at("type") == code);
  }
  CHECK(app.deliver() == 11);
  const auto requests = receiver.received();
  const std::vector<Json> listed = app.me().all("/v1/events");
  REQUIRE(listed.size() == 11);
  for (std::size_t i = 0; i < 11; ++i) {
    const Json body = requests.at(i).json();
    INFO(body.dump());
    CHECK(body == listed.at(i));
    CHECK(body.at("type") == codes.at(i));
    CHECK(body.at("test") == true);
    if (i < 7) {
      const std::string status = body.at("data").at("status");
      CHECK("payment." + status == codes.at(i).get<std::string>());
      CHECK(body.at("data").at("statusHistory").back().at("status") == status);
    }
  }
  CHECK(app.me().all("/v1/transactions").empty());
}

TEST_CASE("events: triggering requires the sandbox") {
  TestApp app;
  const HttpCall call{"POST", "/v1/sandbox/events/payment.failed/trigger", {}, {}};
  CHECK(app.production().send(call).status == 404);
  CHECK(app.me().send({"POST", "/v1/sandbox/events/payment.paid/trigger", {}, {}}).status == 404);
  CHECK(app.me().send(call).status == 202);
}
