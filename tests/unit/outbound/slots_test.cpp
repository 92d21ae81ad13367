#include "outbound/wire/slots.h"

#include <catch2/catch.hpp>

using coffer::outbound::Slots;

TEST_CASE("the number of slots is fixed, and slots return") {
  Slots slots(2);
  {
    auto first = slots.try_take();
    REQUIRE(first);
    const Slots::Slot moved = *std::move(first);
    first.reset();
    const auto second = slots.try_take();
    CHECK(second);
    CHECK_FALSE(slots.try_take());
  }
  const auto first = slots.try_take();
  const auto second = slots.try_take();
  CHECK(first);
  CHECK(second);
  CHECK_FALSE(slots.try_take());
}
