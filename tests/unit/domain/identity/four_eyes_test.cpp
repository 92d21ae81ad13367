#include "domain/identity/four_eyes.h"

#include <catch2/catch.hpp>

using namespace coffer;

namespace {

std::optional<MovedAmount> moved(const char* asset, const char* amount) {
  return MovedAmount{*AssetCode::parse(asset), parse_amount(amount, Amount::kScale).amount};
}

}  // namespace

TEST_CASE("four eyes: off by default, and then no act waits", "[four-eyes]") {
  CHECK(FourEyes().text() == "off");
  CHECK_FALSE(FourEyes().waits(std::nullopt));
  CHECK_FALSE(FourEyes().waits(moved("USDC", "1000000")));
  CHECK_FALSE(FourEyes::parse("off")->waits(std::nullopt));
}

TEST_CASE("four eyes: a limit exempts amounts up to it, and nothing else", "[four-eyes]") {
  const FourEyes all = FourEyes::parse("all").value();
  CHECK(all.waits(std::nullopt));
  CHECK(all.waits(moved("USDC", "0.0000001")));
  const FourEyes some = FourEyes::parse("USDC=1000, EURC=0.5").value();
  CHECK(some.text() == "EURC=0.50,USDC=1000.00");
  CHECK(some.waits(std::nullopt));
  CHECK_FALSE(some.waits(moved("USDC", "1000")));
  CHECK(some.waits(moved("USDC", "1000.0000001")));
  CHECK_FALSE(some.waits(moved("EURC", "0.5")));
  CHECK(some.waits(moved("NGNC", "0.01")));
  CHECK(FourEyes::parse(some.text()).value().text() == some.text());
}

TEST_CASE("four eyes: every other text is rejected", "[four-eyes]") {
  for (const char* text : {"", "on", "ALL", "USDC", "USDC=", "=5", "USDC=0", "USDC=-1",
                           "USDC=1,,EURC=2", "USDC=1,USDC=2", "USDC=1;EURC=2", "all,USDC=1",
                           "USDC=0.00000001", "USDC=999999999999999"}) {
    INFO(text);
    const auto parsed = FourEyes::parse(text);
    REQUIRE_FALSE(parsed);
    CHECK(parsed.error().slug == Slug::validation_failed);
  }
}
