#include "base/text/nearest.h"

#include <array>
#include <catch2/catch.hpp>
#include <string>

using namespace coffer;

namespace {

constexpr auto kKnown = std::to_array<std::string_view>(
    {"association", "application", "wallet", "walletId", "list", "status", "createdFrom", "ok"});

std::string meant(std::string_view word) { return std::string(nearest(word, kKnown).value_or("")); }

}  // namespace

TEST_CASE("nearest: one typo of each kind") {
  CHECK(meant("walet") == "wallet");    // left out
  CHECK(meant("walllet") == "wallet");  // added
  CHECK(meant("wsllet") == "wallet");   // changed
  CHECK(meant("wlalet") == "wallet");   // swapped
  CHECK(meant("lsit") == "list");       // a swap is one typo, not two: four letters allow only one
}

TEST_CASE("nearest: upper and lower case are the same") {
  CHECK(meant("WALLET") == "wallet");
  CHECK(meant("walletid") == "walletId");
  CHECK(meant("wallet_id") == "walletId");
  CHECK(meant("STAUTS") == "status");
}

TEST_CASE("nearest: a longer word may have more typos") {
  CHECK(meant("asociatoin") == "association");
  CHECK(meant("aplicaton") == "application");
  CHECK(meant("creatdform") == "createdFrom");
}

TEST_CASE("nearest: another word is not a typo") {
  CHECK(meant("frobnicate").empty());
  CHECK(meant("last_week").empty());
  CHECK(meant("lose").empty());
  CHECK(meant("x").empty());
  CHECK(meant("").empty());
  CHECK(meant("statusstatus").empty());
  CHECK_FALSE(nearest("wallet", {}));
}

TEST_CASE("nearest: the nearest of several words, the first of equals") {
  constexpr auto kTwo = std::to_array<std::string_view>({"rest", "test", "tests"});
  CHECK(nearest("tests", kTwo) == "tests");
  CHECK(nearest("best", kTwo) == "rest");
}

TEST_CASE("nearest: the end of a message") {
  CHECK(did_you_mean("walet", kKnown) == "; did you mean \"wallet\"?");
  CHECK(did_you_mean("frobnicate", kKnown).empty());
}

TEST_CASE("nearest: bytes outside ASCII, and words of any length") {
  CHECK(meant("w\xc3\xa4llet") == "wallet");
  CHECK(meant(std::string(1'000'000, 'w')).empty());
}
