// What coffer does with rows that another program changed and that no digest covers.
#include <catch2/catch.hpp>

#include "api/delivery_world.h"
#include "support/unguarded.h"

using namespace coffer;
using namespace coffer::test;

namespace foreign_changes_test {
namespace {

/// An edit as another program makes it. It is taken back at the end of the scope.
class Forged {
 public:
  Forged(TestApp& app, const std::string& forge, std::string repair)
      : db_(app.core().database().path(), store::OpenMode::read_write), repair_(std::move(repair)) {
    change_unguarded(db_, forge);
  }
  ~Forged() { change_unguarded(db_, repair_); }
  Forged(const Forged&) = delete;
  Forged& operator=(const Forged&) = delete;

 private:
  store::Connection db_;
  std::string repair_;
};

}  // namespace

TEST_CASE("a delivery whose attempt cannot be recorded is not sent again") {
  DeliveryWorld world;
  world.pay();
  world.app.settle();
  world.app.deliver();
  const int before = world.receiver.count();
  REQUIRE(before > 0);
  const Forged forged(
      world.app,
      "DELETE FROM deliveries WHERE sequence = (SELECT max(sequence) FROM deliveries);"
      " UPDATE webhooks SET cursor = cursor - 1",
      "UPDATE deliveries SET tries = 1");
  world.app.deliver();
  CHECK(world.receiver.count() == before + 1);
  CHECK(world.app.log().find("the delivery has failed") != std::string::npos);
  world.app.restart();
  world.app.deliver();
  CHECK(world.receiver.count() == before + 1);
  CHECK(world.deliveries("dead").size() == 1);
}

}  // namespace foreign_changes_test
