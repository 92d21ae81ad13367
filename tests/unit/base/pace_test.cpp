#include "base/limits/pace.h"

#include <catch2/catch.hpp>

#include "base/platform/processors.h"
#include "base/thread.h"

using namespace coffer;

TEST_CASE("pace: work takes a quarter of one processor and at most half of the time") {
  CHECK(Pace::rest_us(0, 0) == 0);
  CHECK(Pace::rest_us(20'000, 20'000) == 60'000);
  CHECK(Pace::rest_us(20'000, 10'000) == 30'000);
  // The work waited for the disk or for a processor.
  CHECK(Pace::rest_us(20'000, 1'000) == 20'000);
}

TEST_CASE("pace: work too short for a rest is added to the next") {
  const Stopwatch watch;
  Pace pace;
  volatile std::uint64_t work = 0;
  std::int64_t due_ms = 0;
  while (due_ms == 0) {
    for (int i = 0; i < 10'000; ++i) work = work + 1;
    due_ms = pace.rest_ms();
  }
  CHECK(due_ms * 1'000 <= 3 * watch.elapsed_us());
}

TEST_CASE("processor time: increases with work, not while the thread rests") {
  const std::int64_t before = thread_cpu_us();
  volatile std::uint64_t work = 0;
  while (thread_cpu_us() < before + 2'000) work = work + 1;
  const std::int64_t worked = thread_cpu_us();
  rest(20);
  CHECK(thread_cpu_us() - worked < 10'000);
}
