// The next delivery of a sender: endpoints that do not respond leave slots for those that do.
#include "flows/webhooks/delivery_lanes.h"

#include <catch2/catch.hpp>

using namespace coffer;
using namespace coffer::flows;

namespace {

constexpr Timestamp kNow{1'767'225'600'000};

/// Lanes whose attempts a test ends, at times it chooses.
struct Lanes {
  explicit Lanes(const SenderLimits& limits = {}) : lanes(limits) {}

  void open(std::int64_t webhook, bool failing = false) {
    Endpoint endpoint;
    endpoint.secret = Secret("whsec_AAAA");
    endpoint.failing = failing;
    lanes.set_endpoint(webhook, endpoint);
  }
  void add(std::int64_t webhook, int count = 1) {
    for (int i = 0; i < count; ++i) {
      store::DeliveryRow row;
      row.webhook = webhook;
      row.sequence = ++sequence;
      lanes.add(row, "{}");
    }
  }
  /// The endpoints that an unlimited number of senders would serve at `ms`, in order.
  std::vector<std::int64_t> take_all(std::int64_t ms) {
    std::vector<std::int64_t> out;
    while (auto job = lanes.take(kNow, ms)) {
      out.push_back(job->delivery.webhook);
      in_progress.push_back(*std::move(job));
    }
    return out;
  }
  /// Ends the attempts to one endpoint with 200.
  void end(std::int64_t webhook, std::int64_t ms) {
    for (auto it = in_progress.begin(); it != in_progress.end();) {
      if (it->delivery.webhook != webhook) {
        ++it;
        continue;
      }
      DeliveryOutcome outcome;
      outcome.delivery = it->delivery;
      outcome.started_ms = it->started_ms;
      outcome.result.status = 200;
      outcome.result.duration_ms = ms - it->started_ms;
      lanes.finish(outcome, kNow);
      lanes.release({outcome});
      it = in_progress.erase(it);
    }
  }
  bool has(std::int64_t webhook) const {
    for (const DeliveryJob& job : in_progress) {
      if (job.delivery.webhook == webhook) return true;
    }
    return false;
  }

  DeliveryLanes lanes;
  std::vector<DeliveryJob> in_progress;
  std::int64_t sequence = 0;
};

}  // namespace

TEST_CASE("lanes: fifty hanging endpoints delay an unknown one for less than a second") {
  Lanes world;
  for (std::int64_t webhook = 1; webhook <= 51; ++webhook) {
    world.open(webhook);
    world.add(webhook, 3);
  }
  std::int64_t ms = 0;
  while (!world.has(51)) {
    world.take_all(ms);
    if (world.has(51)) break;
    const auto available = world.lanes.available(kNow, ms);
    CHECK(available.jobs == 0);
    REQUIRE(available.again_in_ms);
    ms += *available.again_in_ms;
    REQUIRE(ms < 1'000);
  }
  CHECK(ms <= 400);
  // It is now known to respond, and no other endpoint comes before it.
  world.end(51, ms + 5);
  CHECK(world.take_all(ms + 10) == std::vector<std::int64_t>{51});
  world.end(51, ms + 15);
  CHECK(world.take_all(ms + 20) == std::vector<std::int64_t>{51});
}

TEST_CASE("lanes: an endpoint that responds gets a slot although many hang") {
  Lanes world;
  world.open(1'000);
  world.add(1'000);
  world.take_all(0);
  world.end(1'000, 5);
  for (std::int64_t webhook = 1; webhook <= 500; ++webhook) {
    world.open(webhook);
    world.add(webhook, 2);
  }
  for (std::int64_t ms = 10; ms < 10'000; ms += 100) world.take_all(ms);
  CHECK(world.in_progress.size() <= 256);
  world.add(1'000);
  CHECK(world.lanes.available(kNow, 10'000).jobs == 1);
  CHECK(world.take_all(10'000) == std::vector<std::int64_t>{1'000});
}

TEST_CASE("lanes: without separate slots, hanging endpoints delay all others") {
  Lanes world({.in_flight = 1, .prompt = 16, .patient = 0});
  for (std::int64_t webhook = 1; webhook <= 51; ++webhook) {
    world.open(webhook);
    world.add(webhook);
  }
  for (std::int64_t ms = 0; ms < 10'000; ms += 50) world.take_all(ms);
  CHECK_FALSE(world.has(51));
}

TEST_CASE("lanes: endpoints that failed before the start leave slots to others and to new ones") {
  Lanes world({.in_flight = 1, .prompt = 2, .patient = 4});
  for (std::int64_t webhook = 1; webhook <= 10; ++webhook) {
    world.open(webhook, true);
    world.add(webhook);
  }
  CHECK(world.take_all(0) == std::vector<std::int64_t>{1, 2, 3});
  for (const std::int64_t webhook : {11, 12, 13}) {
    world.open(webhook);
    world.add(webhook);
  }
  CHECK(world.take_all(0) == std::vector<std::int64_t>{11, 12});
  world.end(1, 20);  // it responds again
  world.end(11, 20);
  world.add(1);
  CHECK(world.take_all(20) == std::vector<std::int64_t>{13, 4});
  world.end(12, 30);
  CHECK(world.take_all(30) == std::vector<std::int64_t>{1});
}

TEST_CASE("lanes: an endpoint has a maximum of concurrent attempts, and endpoints take turns") {
  Lanes world({.in_flight = 2, .prompt = 16, .patient = 16});
  for (const std::int64_t webhook : {1, 2}) {
    world.open(webhook);
    world.add(webhook, 5);
  }
  CHECK(world.lanes.available(kNow, 0).jobs == 4);
  CHECK(world.take_all(0) == std::vector<std::int64_t>{1, 2, 1, 2});
  const auto none = world.lanes.available(kNow, 0);
  CHECK(none.jobs == 0);
  CHECK_FALSE(none.again_in_ms);  // only the end of an attempt frees a slot
  world.end(1, 10);
  CHECK(world.take_all(10) == std::vector<std::int64_t>{1, 1});
}

TEST_CASE("lanes: abandoned deliveries may be loaded again, and closed lanes return nothing") {
  Lanes world;
  world.open(1);
  world.add(1);
  auto job = world.lanes.take(kNow, 0);
  REQUIRE(job);
  CHECK(world.lanes.is_claimed(1, job->delivery.sequence));
  world.lanes.abandon(job->delivery, job->started_ms);
  CHECK_FALSE(world.lanes.is_claimed(1, job->delivery.sequence));
  CHECK(world.lanes.take_outcomes().empty());
  world.add(1);
  world.lanes.close();
  CHECK(world.lanes.closed());
  CHECK_FALSE(world.lanes.take(kNow, 0));
  CHECK(world.lanes.available(kNow, 0).jobs == 0);
}
