// A webhook whose URL changes: what the previous address did says nothing about the new one
// (docs/contract.md#delivery).
#include <catch2/catch.hpp>

#include "api/delivery_world.h"
#include "flows/webhooks/deliver.h"

using namespace coffer;
using namespace coffer::test;

namespace webhook_new_url_test {

using Kind = Behaviour::Kind;
using World = DeliveryWorld;

TEST_CASE(
    "delivery: a new URL starts without the pause, the failures and the delays of the old one") {
  World world("payment.initiated");
  const Timestamp start = world.app.clock.now();
  world.receiver.script({{Kind::answer, 500, {{"Retry-After", "3600"}}},
                         {Kind::answer, 503, {{"Retry-After", "3600"}}}});
  for (int i = 0; i < 3; ++i) world.pay();
  CHECK(world.app.deliver() == 2);
  Json shown = world.webhook();
  CHECK(shown.at("pausedUntil") == start.plus_ms(3'600'000).to_string());
  CHECK(shown.at("consecutiveFailures") == 2);
  CHECK(world.app.deliver() == 0);

  // Any other change keeps the pause.
  const auto patch = [&](const Json& body) {
    return world.app.me().send({"PATCH", world.path(), {}, body.dump()}).json();
  };
  CHECK(patch({{"description", "same address"}}).contains("pausedUntil"));
  CHECK(patch({{"url", world.receiver.url()}}).contains("pausedUntil"));
  CHECK(world.app.deliver() == 0);

  shown = patch({{"url", world.receiver.url("/new")}});
  CHECK_FALSE(shown.contains("pausedUntil"));
  CHECK_FALSE(shown.contains("lastAttemptAt"));
  CHECK(shown.at("consecutiveFailures") == 0);
  CHECK(world.app.deliver() == 3);
  CHECK(world.deliveries("delivered").size() == 3);
  const auto received = world.receiver.received();
  REQUIRE(received.size() == 5);
  for (std::size_t i = 2; i < 5; ++i) CHECK(received[i].target == "/new");
}

TEST_CASE("delivery: an attempt to the old URL does not count for the new one") {
  for (const int status : {410, 503}) {
    INFO(status);
    World world("payment.initiated");
    world.pay();
    flows::DeliveryLanes lanes(flows::SenderLimits{});
    const flows::Context& flows = world.app.core().flows();
    REQUIRE(flows::run_delivery_round(flows, lanes));
    const auto job = flows::take_delivery(flows, lanes);
    REQUIRE(job);
    world.receiver.script({{Kind::answer, status, {{"Retry-After", "3600"}}}});
    const Reply moved = world.app.me().send(
        {"PATCH", world.path(), {}, Json{{"url", world.receiver.url("/new")}}.dump()});
    REQUIRE(moved.status == 200);
    REQUIRE(flows::run_delivery_round(flows, lanes));  // the senders know the new URL
    flows::send_delivery(flows, lanes, *job);
    REQUIRE(flows::run_delivery_round(flows, lanes));
    const Json shown = world.webhook();
    CHECK(shown.at("status") == "active");
    CHECK_FALSE(shown.contains("pausedUntil"));
    CHECK(shown.at("consecutiveFailures") == 0);
    // The new URL gets the event of the failed attempt.
    const auto next = flows::take_delivery(flows, lanes);
    REQUIRE(next);
    CHECK(next->message.url == world.receiver.url("/new"));
    CHECK(next->message.id == job->message.id);
    flows::send_delivery(flows, lanes, *next);
    REQUIRE(flows::run_delivery_round(flows, lanes));
    CHECK(world.deliveries("delivered").size() == 1);
  }
}

TEST_CASE("delivery: a new URL has all attempts, whatever was attempted at the old one") {
  for (int before = 1; before <= 3; ++before) {
    for (const int status : {410, 500}) {
      if (status == 410 && before < 3) continue;  // an earlier 410 disables the webhook
      INFO(before << " attempts, the last one " << status);
      World world("payment.initiated");
      world.pay();
      flows::DeliveryLanes lanes(flows::SenderLimits{});
      const flows::Context& flows = world.app.core().flows();
      const auto take = [&] {
        REQUIRE(flows::run_delivery_round(flows, lanes));
        auto job = flows::take_delivery(flows, lanes);
        REQUIRE(job);
        return *job;
      };
      std::vector<Behaviour> failures(static_cast<std::size_t>(before) - 1, {Kind::answer, 500});
      failures.push_back({Kind::answer, status});
      for (int i = 0; i < 3; ++i) failures.push_back({Kind::answer, 500});
      world.receiver.script(failures);
      for (int i = 1; i < before; ++i) {
        flows::send_delivery(flows, lanes, take());
        REQUIRE(flows::run_delivery_round(flows, lanes));
        world.app.clock.advance_ms(20'000);
      }
      const auto last = take();  // in flight while the URL changes
      REQUIRE(
          world.app.me()
              .send({"PATCH", world.path(), {}, Json{{"url", world.receiver.url("/new")}}.dump()})
              .status == 200);
      flows::send_delivery(flows, lanes, last);
      for (int i = 0; i < 3; ++i) {
        flows::send_delivery(flows, lanes, take());
        REQUIRE(flows::run_delivery_round(flows, lanes));
        world.app.clock.advance_ms(20'000);
      }
      CHECK(world.deliveries("dead").size() == 1);
      int at_new = 0;
      for (const auto& request : world.receiver.received()) at_new += request.target == "/new";
      CHECK(at_new == 3);
    }
  }
}

}  // namespace webhook_new_url_test
