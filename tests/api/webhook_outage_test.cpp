// A receiver is down for an hour and returns: the missed events are listed, and recover delivers
// exactly those (docs/contract.md#webhooks).
#include <catch2/catch.hpp>
#include <map>
#include <set>

#include "support/receiver.h"
#include "support/test_app.h"

using namespace coffer;
using namespace coffer::test;

namespace webhook_outage_test {
namespace {

using Kind = Behaviour::Kind;
constexpr int kEventsOfPayment = 3;

/// A receiver of every payment event, and an hour in which it is down.
struct Outage {
  Outage()
      : app([](Config& config) { config.token_lifetime_s = 604'800; }),
        from(app.wallet("USDC", "1000")),
        to(app.wallet("USDC")) {
    id = app.me()
             .post("/v1/webhooks", {{"url", receiver.url()}, {"eventTypes", {"*"}}})
             .json()
             .at("id");
  }

  /// One payment a minute, and every attempt that comes due meanwhile.
  void minutes(int count) {
    for (int i = 0; i < count; ++i) {
      app.me().transfer(from, to, "1");
      app.settle();
      app.deliver();
      // The waits of the sandbox: 1 s and 10 s, each 20 % longer at most.
      for (const int wait_ms : {1'200, 12'000}) {
        app.clock.advance_ms(wait_ms);
        app.deliver();
      }
      app.clock.advance_ms(kMinuteMs - 13'200);
    }
  }

  std::string path(const std::string& rest) const { return "/v1/webhooks/" + id + rest; }
  std::vector<Json> deliveries(const std::string& status) const {
    return app.me().all(path("/deliveries?status=" + status));
  }
  std::string now() const { return app.clock.now().to_string(); }

  /// The events that arrive by this recovery, in order. Clears the receiver's log first.
  std::vector<std::string> recover(const Json& range) {
    receiver.forget();
    CHECK(app.me().post(path("/recover"), range).status == 202);
    app.deliver();
    return arrived();
  }
  std::vector<std::string> arrived() const {
    std::vector<std::string> out;
    for (const Received& request : receiver.received()) {
      out.push_back(request.header("X-Webhook-Id"));
    }
    return out;
  }
  /// Ids of the events with from <= timestamp < to, oldest first.
  std::vector<std::string> events_between(const std::string& begin, const std::string& end) const {
    std::vector<std::string> out;
    for (const Json& event : app.me().all("/v1/events")) {
      const std::string at = event.at("timestamp");
      if (begin <= at && at < end) out.push_back(event.at("id"));
    }
    return out;
  }

  Receiver receiver;
  TestApp app;
  std::string from;
  std::string to;
  std::string id;
};

std::set<std::string> ids_of(const std::vector<Json>& rows) {
  std::set<std::string> out;
  for (const Json& row : rows) out.insert(row.at("eventId"));
  return out;
}

std::set<std::string> as_set(const std::vector<std::string>& ids) {
  return {ids.begin(), ids.end()};
}

}  // namespace

TEST_CASE(
    "outage: after an hour, the failed deliveries are listed and recover delivers exactly those") {
  Outage world;
  world.minutes(3);
  const std::string down = world.now();
  world.receiver.otherwise({Kind::reset});
  world.minutes(30);
  const std::string middle = world.now();
  world.receiver.otherwise({Kind::answer, 502});
  world.minutes(30);
  const std::string up = world.now();
  const auto lost = world.events_between(down, up);
  REQUIRE(lost.size() == 60 * kEventsOfPayment);

  std::map<std::string, std::string> bytes;
  std::map<std::string, int> requests;
  for (const Received& request : world.receiver.received()) {
    const std::string event = request.header("X-Webhook-Id");
    CHECK(bytes.emplace(event, request.body).first->second == request.body);
    ++requests[event];
  }
  world.receiver.otherwise({});
  world.minutes(3);

  const auto dead = world.deliveries("dead");
  CHECK(ids_of(dead) == as_set(lost));
  for (const Json& row : dead) {
    CHECK(row.at("attempts") == 3);
    // A kept connection that is dead is replaced within the attempt.
    const std::string event = row.at("eventId");
    CHECK(requests[event] - 3 <= (event == lost.front() ? 1 : 0));
    CHECK(requests[event] >= 3);
    CHECK(row.contains("closedAt"));
    CHECK_FALSE(row.contains("nextAttemptAt"));
  }
  CHECK(world.deliveries("pending").empty());
  CHECK(world.deliveries("delivered").size() == 6 * kEventsOfPayment);

  // The first half, then everything: events that have arrived are not repeated.
  const auto first_half = world.recover({{"from", down}, {"to", middle}});
  CHECK(first_half == world.events_between(down, middle));
  CHECK(first_half != lost);  // the comparison detects missing events
  CHECK(ids_of(world.deliveries("dead")) == as_set(world.events_between(middle, up)));
  for (const Received& request : world.receiver.received()) {
    CHECK(request.body == bytes.at(request.header("X-Webhook-Id")));
  }
  const auto rest = world.recover({{"from", "2025-01-01"}});
  CHECK(rest == world.events_between(middle, up));
  for (const Received& request : world.receiver.received()) {
    CHECK(request.body == bytes.at(request.header("X-Webhook-Id")));
  }
  CHECK(world.deliveries("dead").empty());
  CHECK(world.deliveries("delivered").size() == 66 * kEventsOfPayment);
  CHECK(world.recover({{"from", "2025-01-01"}}).empty());
}

TEST_CASE("outage: the range of a recovery includes from and excludes to") {
  Outage world;
  world.receiver.otherwise({Kind::answer, 500});
  world.minutes(3);
  world.receiver.otherwise({});
  const auto events = world.app.me().all("/v1/events");
  const std::string begin = events.at(3).at("timestamp"), end = events.at(6).at("timestamp");
  const std::vector<std::string> second{events.at(3).at("id"), events.at(4).at("id"),
                                        events.at(5).at("id")};
  CHECK(world.recover({{"from", begin}, {"to", end}}) == second);
  CHECK(world.deliveries("dead").size() == 2 * kEventsOfPayment);
}

TEST_CASE("outage: two separate ranges do not deliver the events between them") {
  Outage world;
  world.receiver.otherwise({Kind::answer, 500});
  world.minutes(3);
  world.receiver.otherwise({});
  const auto events = world.app.me().all("/v1/events");
  const auto at = [&](std::size_t payment) {
    return events.at(payment * kEventsOfPayment).at("timestamp");
  };
  world.receiver.forget();
  for (const Json& range : {Json{{"from", at(2)}}, Json{{"from", at(0)}, {"to", at(1)}}}) {
    CHECK(world.app.me().post(world.path("/recover"), range).status == 202);
  }
  world.app.deliver();
  world.app.deliver();
  std::set<std::string> wanted;
  for (const Json& event : events) {
    if (event.at("timestamp") < at(1) || event.at("timestamp") >= at(2)) {
      wanted.insert(event.at("id"));
    }
  }
  CHECK(as_set(world.arrived()) == wanted);
}

TEST_CASE("outage: a recovery to a receiver that is still down fails again") {
  Outage world;
  world.receiver.otherwise({Kind::reset});
  world.minutes(5);
  const auto lost = ids_of(world.deliveries("dead"));
  CHECK(lost.size() == 5 * kEventsOfPayment);
  CHECK(world.recover({{"from", "2025-01-01"}}).size() == lost.size());
  world.app.restart();
  for (const int wait_ms : {1'200, 12'000, 3'600'000}) {
    world.app.clock.advance_ms(wait_ms);
    world.app.deliver();
  }
  CHECK(ids_of(world.deliveries("dead")) == lost);
  CHECK(world.receiver.count() == static_cast<int>(3 * lost.size()));
  for (const Json& row : world.deliveries("dead")) CHECK(row.at("attempts") == 6);

  world.receiver.otherwise({});
  CHECK(as_set(world.recover({{"from", "2025-01-01"}})) == lost);
  CHECK(world.deliveries("dead").empty());
}

TEST_CASE("outage: a recovery is only for one endpoint and its types") {
  TestApp app;
  const std::string from = app.wallet("USDC", "10"), to = app.wallet("USDC");
  Receiver first, second;
  const auto add = [&](const Receiver& receiver, const char* type) {
    return app.me()
        .post("/v1/webhooks", {{"url", receiver.url()}, {"eventTypes", {type}}})
        .json()
        .at("id")
        .get<std::string>();
  };
  const std::string id = add(first, "payment.initiated");
  add(second, "payment.succeeded");
  first.otherwise({Kind::answer, 500});
  second.otherwise({Kind::answer, 500});
  app.me().transfer(from, to, "1");
  app.settle();
  for (int i = 0; i < 4; ++i) {
    app.deliver();
    app.clock.advance_ms(60'000);
  }
  for (Receiver* receiver : {&first, &second}) {
    CHECK(receiver->count() == 3);
    receiver->otherwise({});
    receiver->forget();
  }
  CHECK(app.me().post("/v1/webhooks/" + id + "/recover", {{"from", "2025-01-01"}}).status == 202);
  app.deliver();
  REQUIRE(first.count() == 1);
  CHECK(first.received().at(0).json().at("type") == "payment.initiated");
  CHECK(second.count() == 0);
}

}  // namespace webhook_outage_test
