#include "base/telemetry/worker_thread.h"

#include <pthread.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "base/check.h"
#include "base/telemetry/log.h"

using namespace coffer;

namespace {

// Waits for required events. Generous, because only a failing test uses the whole time.
bool eventually(const std::function<bool()>& condition) {
  for (int i = 0; i < 10'000; ++i) {
    if (condition()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return false;
}

void let_time_pass() { std::this_thread::sleep_for(std::chrono::milliseconds(30)); }

}  // namespace

TEST_CASE("a thread has its name and joins on destruction", "[worker_thread]") {
  std::string seen;
  {
    Thread thread("coffer-a-name-that-is-too-long", [&] {
      char name[16] = {};
      pthread_getname_np(pthread_self(), name, sizeof(name));
      seen = name;
    });
  }
  CHECK(seen == "coffer-a-name-t");
}

TEST_CASE("the step runs immediately, then only when woken", "[worker_thread]") {
  std::atomic<int> steps = 0;
  WorkerThread worker("t", [&] {
    ++steps;
    return WorkerThread::kWhenWoken;
  });
  CHECK(steps == 0);
  worker.start();
  CHECK(eventually([&] { return steps == 1; }));
  let_time_pass();
  CHECK(steps == 1);
  worker.wake();
  CHECK(eventually([&] { return steps == 2; }));
}

TEST_CASE("the step is repeated after its requested time", "[worker_thread]") {
  std::atomic<int> steps = 0;
  WorkerThread worker("t", [&]() -> std::int64_t { return ++steps < 5 ? 0 : 1; });
  worker.start();
  CHECK(eventually([&] { return steps > 20; }));
  worker.stop();
  const int after = steps;
  let_time_pass();
  CHECK(steps == after);
}

TEST_CASE("a step that returns never is not repeated", "[worker_thread]") {
  std::atomic<int> steps = 0;
  WorkerThread worker("t", [&] {
    ++steps;
    return std::numeric_limits<std::int64_t>::max();
  });
  worker.start();
  CHECK(eventually([&] { return steps == 1; }));
  let_time_pass();
  CHECK(steps == 1);
}

TEST_CASE("several wake-ups before a step cause one run, and a wake-up during a step is not lost",
          "[worker_thread]") {
  std::atomic<int> steps = 0;
  std::atomic<bool> inside = false;
  std::atomic<bool> go_on = false;
  WorkerThread worker("t", [&] {
    ++steps;
    inside = true;
    while (!go_on) std::this_thread::yield();
    return WorkerThread::kWhenWoken;
  });
  worker.wake();
  worker.wake();
  worker.start();
  REQUIRE(eventually([&] { return inside.load(); }));
  CHECK(steps == 1);
  for (int i = 0; i < 100; ++i) worker.wake();
  go_on = true;
  CHECK(eventually([&] { return steps == 2; }));
  let_time_pass();
  CHECK(steps == 2);
}

TEST_CASE("a step can wake its own thread", "[worker_thread]") {
  std::atomic<int> steps = 0;
  WorkerThread* self = nullptr;
  WorkerThread worker("t", [&] {
    if (++steps < 3) self->wake();
    return WorkerThread::kWhenWoken;
  });
  self = &worker;
  worker.start();
  CHECK(eventually([&] { return steps == 3; }));
}

TEST_CASE("a step that throws is logged in full and runs again", "[worker_thread]") {
  Mutex mutex;
  std::vector<std::string> lines;
  redirect_log([&](std::string_view line) {
    Lock lock(mutex);
    lines.emplace_back(line);
  });
  configure_logging(LogLevel::info, LogFormat::json);
  std::atomic<int> steps = 0;
  {
    WorkerThread worker(
        "settle",
        [&]() -> std::int64_t {
          const int step = ++steps;
          if (step == 1) COFFER_CHECK(step == 0);
          if (step == 2) throw 7;
          return WorkerThread::kWhenWoken;
        },
        1);
    worker.start();
    CHECK(eventually([&] { return steps == 3; }));
  }
  redirect_log(nullptr);
  configure_logging(LogLevel::info, default_log_format());
  REQUIRE(lines.size() == 2);
  CHECK(lines[0].find("\"level\":\"error\"") != std::string::npos);
  CHECK(lines[0].find("\"worker\":\"settle\"") != std::string::npos);
  CHECK(lines[0].find("check failed: step == 0") != std::string::npos);
}

TEST_CASE("a stop shortens the backoff, a wake-up does not", "[worker_thread]") {
  redirect_log([](std::string_view) {});
  std::atomic<int> steps = 0;
  WorkerThread worker(
      "t",
      [&]() -> std::int64_t {
        ++steps;
        throw InternalError("always");
      },
      60'000);
  worker.start();
  CHECK(eventually([&] { return steps == 1; }));
  worker.wake();
  let_time_pass();
  CHECK(steps == 1);
  const auto before = std::chrono::steady_clock::now();
  worker.stop();
  CHECK(std::chrono::steady_clock::now() - before < std::chrono::seconds(30));
  redirect_log(nullptr);
}

TEST_CASE("stop waits for the running step, and works twice or without a start",
          "[worker_thread]") {
  std::atomic<bool> inside = false;
  std::atomic<bool> done = false;
  WorkerThread worker("t", [&] {
    inside = true;
    let_time_pass();
    done = true;
    return WorkerThread::kWhenWoken;
  });
  worker.start();
  REQUIRE(eventually([&] { return inside.load(); }));
  worker.stop();
  CHECK(done);
  worker.stop();
  worker.wake();
  CHECK_THROWS_AS(worker.start(), InternalError);

  WorkerThread never_started("t", [] { return WorkerThread::kWhenWoken; });
  never_started.stop();
}
