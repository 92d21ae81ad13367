#include "base/platform/parking.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <cstdint>

#include "base/thread.h"

namespace coffer {

TEST_CASE("parking: a thread does not sleep on a word that has changed") {
  const std::atomic<std::uint32_t> word{1};
  park(word, 0);  // returns
  CHECK(word.load() == 1);
}

TEST_CASE("parking: a thread sleeps until its word changes") {
  std::atomic<std::uint32_t> word{0};
  std::atomic<bool> woken{false};
  Thread sleeper("sleeper", [&] {
    while (word.load() == 0) park(word, 0);
    woken = true;
  });
  unpark(&word);  // without a change, it sleeps again
  rest(20);
  CHECK(!woken.load());
  word.store(1);
  unpark(&word);
  sleeper.join();
  CHECK(woken.load());
}

}  // namespace coffer
