// The connections over which events are delivered (docs/contract.md#delivery).
#include <catch2/catch.hpp>
#include <set>

#include "api/delivery_world.h"

using namespace coffer;
using namespace coffer::test;

namespace webhook_connections_test {
namespace {

using Kind = Behaviour::Kind;
using World = DeliveryWorld;

}  // namespace

TEST_CASE("delivery: connections are reused, and closed without a loss") {
  World world("payment.initiated");
  for (int i = 0; i < 5; ++i) world.pay();
  CHECK(world.app.deliver() == 5);
  CHECK(world.receiver.connections() == 1);
  // The receiver closes after its response, so the next request uses a new connection.
  world.receiver.script({{Kind::close_after}});
  world.pay();
  CHECK(world.app.deliver() == 1);
  REQUIRE(world.receiver.wait_until_closed(1));
  for (int i = 0; i < 2; ++i) world.pay();
  CHECK(world.app.deliver() == 2);
  CHECK(world.receiver.connections() == 2);
  CHECK(world.receiver.count() == 8);
  CHECK(world.deliveries("delivered").size() == 8);
}

TEST_CASE("delivery: an attempt is one request, even on a reused connection") {
  for (const Kind kind : {Kind::hang_up, Kind::reset}) {
    World world("payment.initiated");
    world.pay();
    CHECK(world.app.deliver() == 1);
    world.receiver.otherwise({kind});
    world.pay();
    for (int attempt = 1; attempt <= 3; ++attempt) {
      CHECK(world.app.deliver() == 1);
      CHECK(world.receiver.count() == 1 + attempt);
      world.app.clock.advance_ms(12'000);
    }
    world.app.clock.advance_ms(86'400'000);
    CHECK(world.app.deliver() == 0);
    const auto requests = world.receiver.received();
    REQUIRE(requests.size() == 4);
    CHECK(requests.at(1).connection == requests.at(0).connection);
    const Json dead = world.deliveries("dead").at(0);
    CHECK(dead.at("attempts") == 3);
    CHECK(world.detail(dead.at("id")).at("log").size() == 3);
  }
}

TEST_CASE("delivery: with running workers, events arrive automatically") {
  World world;
  Receiver dead;
  dead.otherwise({Kind::silent});
  world.app.me().post("/v1/webhooks",
                      {{"url", dead.url()}, {"eventTypes", {"wallet.status_changed"}}});
  world.app.listen();
  const std::string third = world.app.me().third_party_wallet("USDC");
  world.app.me().send({"POST", "/v1/sandbox/wallets/" + third + "/verify", {}, {}});
  for (int i = 0; i < 20; ++i) world.pay();
  // The endpoint that never responds delays no others.
  CHECK(world.receiver.wait_for(60));
  CHECK(dead.wait_for(1));
  std::set<std::string> ids;
  for (const Received& request : world.receiver.received())
    ids.insert(request.header("X-Webhook-Id"));
  CHECK(ids.size() == 60);
}

}  // namespace webhook_connections_test
