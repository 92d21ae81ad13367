// Fibers, and waits for a completion on a fiber and on a thread.
#include "base/fibers/fiber.h"

#include <array>
#include <atomic>
#include <catch2/catch.hpp>
#include <deque>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/fibers/completion.h"
#include "base/mutex.h"
#include "base/telemetry/log_scope.h"
#include "base/thread.h"

namespace coffer {
namespace {

/// Fibers that can continue, in order.
class ReadyList {
 public:
  void push(Fiber* fiber) {
    const Lock lock(mutex_);
    ready_.push_back(fiber);
    changed_.notify_one();
  }
  Fiber* take() {
    const Lock lock(mutex_);
    while (ready_.empty()) changed_.wait(mutex_);
    Fiber* const fiber = ready_.front();
    ready_.pop_front();
    return fiber;
  }

 private:
  Mutex mutex_;
  Condition changed_;
  std::deque<Fiber*> ready_ COFFER_GUARDED_BY(mutex_);
};

void on_another_thread(const std::function<void()>& action) { Thread("other", action).join(); }

}  // namespace

TEST_CASE("completion: no wait if it has already occurred") {
  Completion completion;
  completion.complete();
  completion.wait();  // returns
}

TEST_CASE("completion: a thread sleeps until it occurs") {
  Completion completion;
  std::atomic<bool> done{false};
  Thread waiter("waiter", [&] {
    completion.wait();
    done = true;
  });
  rest(5);
  CHECK_FALSE(done.load());
  completion.complete();
  waiter.join();
  CHECK(done.load());
}

TEST_CASE("fiber: a body can run again after it has returned") {
  int runs = 0;
  Fiber fiber([&] { ++runs; }, [] {});
  CHECK(fiber.resume());
  CHECK(fiber.resume());
  CHECK(runs == 2);
}

TEST_CASE("fiber: a body continues where it waited, on another thread", "[leaves]") {
  std::string trace;
  Completion completion;
  std::atomic<bool> ready{false};
  Fiber fiber(
      [&] {
        const std::string kept = "kept";
        trace += "before ";
        completion.wait();
        trace += kept;
      },
      [&] { ready = true; });
  CHECK_FALSE(fiber.resume());
  CHECK(trace == "before ");
  CHECK_FALSE(ready.load());
  on_another_thread([&] { completion.complete(); });
  CHECK(ready.load());
  bool ended = false;
  on_another_thread([&] { ended = fiber.resume(); });
  CHECK(ended);
  CHECK(trace == "before kept");
}

TEST_CASE("fiber: log fields stay with the fiber", "[leaves]") {
  const LogScope own("thread", "this");
  Completion completion;
  std::vector<std::string> seen;
  const auto note = [&] {
    const LogScope* scope = LogScope::current();
    seen.push_back(scope == nullptr ? "none" : std::string(scope->value()));
  };
  Fiber fiber(
      [&] {
        note();
        const LogScope scope("request_id", "42");
        completion.wait();
        note();
      },
      [] {});
  CHECK_FALSE(fiber.resume());
  note();
  completion.complete();
  on_another_thread([&] {
    CHECK(fiber.resume());
    note();
  });
  CHECK(seen == std::vector<std::string>{"none", "this", "42", "none"});
}

TEST_CASE("fiber: a fiber stays on its thread while it holds a mutex or handles an exception",
          "[leaves]") {
  Mutex mutex;
  std::array<bool, 4> movable{};
  CHECK(Fiber::movable() == nullptr);  // a thread is no fiber
  Fiber fiber(
      [&] {
        movable[0] = Fiber::movable() == &fiber;
        {
          const Lock lock(mutex);
          movable[1] = Fiber::movable() != nullptr;
        }
        try {
          throw std::runtime_error("handled");
        } catch (const std::exception&) {
          movable[2] = Fiber::movable() != nullptr;
        }
        movable[3] = Fiber::movable() == &fiber;
      },
      [] {});
  CHECK(fiber.resume());
  CHECK(movable == std::array<bool, 4>{true, false, false, true});
}

TEST_CASE("fiber: exceptions are caught on the fiber after it has changed the thread", "[leaves]") {
  Completion completion;
  std::string caught;
  Fiber fiber(
      [&] {
        try {
          completion.wait();
          throw std::runtime_error("after the wait");
        } catch (const std::exception& error) {
          caught = error.what();
        }
      },
      [] {});
  CHECK_FALSE(fiber.resume());
  completion.complete();
  on_another_thread([&] { CHECK(fiber.resume()); });
  CHECK(caught == "after the wait");
}

// The completion comes before, while and after the fiber leaves its thread.
TEST_CASE("fiber: every wait ends once, whenever its completion occurs", "[leaves]") {
  constexpr int kFibers = 8;
  constexpr int kWaits = 500;
  ReadyList ready;
  std::atomic<int> waits{0};
  std::atomic<int> running{kFibers};
  Mutex mutex;
  Condition arrived;
  std::deque<Completion*> pending;
  bool over = false;
  Thread completer("completer", [&] {
    for (;;) {
      Completion* next = nullptr;
      {
        const Lock lock(mutex);
        while (pending.empty() && !over) arrived.wait(mutex);
        if (pending.empty()) return;
        next = pending.front();
        pending.pop_front();
      }
      next->complete();
    }
  });
  std::vector<std::unique_ptr<Fiber>> fibers;
  for (int i = 0; i < kFibers; ++i) {
    fibers.push_back(std::make_unique<Fiber>(
        [&] {
          for (int n = 0; n < kWaits; ++n) {
            Completion completion;
            {
              const Lock lock(mutex);
              pending.push_back(&completion);
              arrived.notify_one();
            }
            completion.wait();
            ++waits;
          }
        },
        [&, i] { ready.push(fibers[static_cast<std::size_t>(i)].get()); }));
  }
  for (const auto& fiber : fibers) ready.push(fiber.get());
  const auto work = [&] {
    while (Fiber* fiber = ready.take()) {
      if (!fiber->resume() || --running > 0) continue;
      ready.push(nullptr);  // one for each worker
      ready.push(nullptr);
    }
  };
  Thread first("first", work);
  Thread second("second", work);
  first.join();
  second.join();
  {
    const Lock lock(mutex);
    over = true;
    arrived.notify_one();
  }
  completer.join();
  CHECK(waits.load() == kFibers * kWaits);
}

}  // namespace coffer
