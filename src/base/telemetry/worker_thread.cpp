#include "base/telemetry/worker_thread.h"

#include <algorithm>
#include <typeinfo>
#include <utility>

#include "base/check.h"
#include "base/clock.h"
#include "base/telemetry/log.h"

namespace coffer {
namespace {

// A step may return the largest integer to mean "never"; sums with it would overflow. One
// additional step per day costs nothing.
constexpr std::int64_t kWaitMaxMs = 86'400'000;

}  // namespace

WorkerThread::WorkerThread(std::string name, std::function<std::int64_t()> step,
                           std::int64_t backoff_ms)
    : name_(std::move(name)), step_(std::move(step)), backoff_ms_(backoff_ms) {}

WorkerThread::~WorkerThread() { stop(); }

void WorkerThread::start() {
  COFFER_CHECK(!started_);
  started_ = true;
  thread_ = Thread(name_, [this] { run(); });
}

void WorkerThread::wake() {
  {
    Lock lock(mutex_);
    if (woken_) return;
    woken_ = true;
  }
  changed_.notify_one();
}

void WorkerThread::stop() {
  {
    Lock lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

void WorkerThread::run() {
  while (begin_step()) {
    try {
      wait(step_(), true);
      continue;
    } catch (const std::exception& fault) {
      log_error("worker", "step failed",
                {{"worker", name_}, {"type", typeid(fault).name()}, {"error", fault.what()}});
    } catch (...) {
      log_error("worker", "step failed", {{"worker", name_}, {"error", "not an exception"}});
    }
    wait(backoff_ms_, false);
  }
}

// Resets wake-ups before the step: a wake-up during the step may announce a row that the step did
// not see.
bool WorkerThread::begin_step() {
  Lock lock(mutex_);
  woken_ = false;
  return !stopping_;
}

// Uses the machine's clock even in tests with a manual clock, because those tests call the step
// directly.
void WorkerThread::wait(std::int64_t ms, bool until_woken) {
  const SystemClock clock;
  const std::int64_t deadline = clock.monotonic_ms() + std::min(ms, kWaitMaxMs);
  Lock lock(mutex_);
  while (!stopping_ && !(until_woken && woken_)) {
    if (ms < 0) {
      changed_.wait(mutex_);
      continue;
    }
    const std::int64_t left = deadline - clock.monotonic_ms();
    if (left <= 0) return;
    changed_.wait_for_ms(mutex_, left);
  }
}

}  // namespace coffer
