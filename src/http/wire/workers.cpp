#include "http/wire/workers.h"

#include <algorithm>
#include <cerrno>
#include <new>
#include <string>
#include <system_error>
#include <utility>

#include "base/platform/parking.h"
#include "base/platform/process.h"
#include "base/platform/processors.h"
#include "base/telemetry/log.h"

namespace coffer::http {
namespace {

// If no turn is taken for this time, the active workers are blocked. Usually longer than a worker
// waits for a processor on a busy machine.
constexpr std::int64_t kStuckMs = 2;
constexpr std::int64_t kLogEveryMs = 60'000;

}  // namespace

struct Workers::RequestFiber {
  explicit RequestFiber(Workers& workers)
      : adapter(workers.callbacks_.make_adapter()),
        fiber([this, &workers] { workers.callbacks_.serve(*connection, *adapter); },
              [this, &workers] {
                workers.push({nullptr, this}, true);
              }) {}

  const std::unique_ptr<Adapter> adapter;
  Connection* connection = nullptr;
  Fiber fiber;
};

Workers::Workers(std::size_t count_max, Callbacks callbacks)
    : count_max_(count_max),
      callbacks_(std::move(callbacks)),
      active_max_(static_cast<std::size_t>(processors())) {}

Workers::~Workers() = default;

void Workers::start() {
  while (threads_.size() < active_max_ && start_one()) continue;
}

/// Returns false if all workers are running, or the system has no more threads.
bool Workers::start_one() {
  if (threads_.size() >= count_max_) return false;
  try {
    if (threads_.size() >= active_max_ && !has_spare_memory()) {
      throw std::system_error(ENOMEM, std::generic_category());
    }
    threads_.emplace_back("http-" + std::to_string(threads_.size()), [this] { run(); });
  } catch (const std::system_error& error) {
    if (stuck_since_ms_ >= next_log_ms_) {
      next_log_ms_ = stuck_since_ms_ + kLogEveryMs;
      log_warning("http", "cannot start another worker thread",
                  {{"workers", threads_.size()}, {"error", error.what()}});
    }
    return false;
  }
  count_.store(threads_.size(), std::memory_order_relaxed);
  return true;
}

/// Makes an idle worker active, unless enough are; otherwise returns nullptr. The caller unparks
/// the result. Workers wake up one after the other, because the first one often takes all turns of
/// a commit before the next one runs.
std::atomic<std::uint32_t>* Workers::activate_next() {
  return active_ < active_max_ && waking_ == 0 ? activate_one() : nullptr;
}

std::atomic<std::uint32_t>* Workers::activate_one() {
  if (idle_.empty()) return nullptr;
  Worker& worker = *idle_.back();
  idle_.pop_back();
  worker.epoch = epoch_;
  worker.is_waking = true;
  ++active_;
  ++waking_;
  worker.awake.store(1, std::memory_order_release);
  return &worker.awake;
}

void Workers::push(Turn turn, bool may_watch) {
  ++pushing_;
  std::atomic<std::uint32_t>* woken = nullptr;
  bool watch = false;
  {
    const Lock lock(mutex_);
    turns_.push_back(turn);
    woken = activate_next();
    watch = may_watch && waking_ == 0 && !std::exchange(watched_, true);
  }
  if (woken != nullptr) unpark(woken);
  if (watch) callbacks_.watch();
  --pushing_;
}

Workers::Turn Workers::pop(Worker& self) {
  for (;;) {
    Turn turn;
    std::atomic<std::uint32_t>* woken = nullptr;
    bool watch = false;
    {
      const Lock lock(mutex_);
      if (std::exchange(self.is_waking, false)) --waking_;
      if (std::exchange(self.epoch, 0) == epoch_) --active_;
      if (turns_.empty()) {
        if (closed_) return {};
        self.awake.store(0, std::memory_order_relaxed);
        idle_.push_back(&self);
      } else {
        turn = turns_.front();
        turns_.pop_front();
        ++taken_;
        ++active_;
        self.epoch = epoch_;
        if (!turns_.empty()) {
          woken = activate_next();
          watch = waking_ == 0 && !std::exchange(watched_, true);
        }
      }
    }
    if (woken != nullptr) unpark(woken);
    if (watch) callbacks_.watch();
    if (turn.connection != nullptr || turn.fiber != nullptr) return turn;
    while (self.awake.load(std::memory_order_acquire) == 0) park(self.awake, 0);
  }
}

bool Workers::tend(std::int64_t now_ms) {
  std::size_t missing = 0;
  {
    const Lock lock(mutex_);
    watched_ = !turns_.empty();
    if (!watched_ || taken_ != std::exchange(taken_before_, taken_)) stuck_since_ms_ = now_ms;
    if (now_ms - stuck_since_ms_ < kStuckMs) return watched_;
    stuck_since_ms_ = now_ms;
    ++epoch_;
    active_ = 0;
    for (missing = std::min(turns_.size(), active_max_); missing > 0; --missing) {
      std::atomic<std::uint32_t>* const woken = activate_one();
      if (woken == nullptr) break;
      unpark(woken);
    }
  }
  while (missing > 0 && start_one()) --missing;
  return true;
}

void Workers::run() {
  wake_without_preempting();  // a commit completes many requests at a time
  Worker self;
  RequestFiber* spare = nullptr;
  for (;;) {
    const Turn turn = pop(self);
    RequestFiber* fiber = turn.fiber;
    if (turn.connection != nullptr) {
      fiber = spare != nullptr ? std::exchange(spare, nullptr) : take_fiber();
      if (fiber == nullptr) {
        // Without memory for a stack, a request uses that of the worker, which every wait blocks.
        callbacks_.serve(*turn.connection, *callbacks_.make_adapter());
        continue;
      }
      fiber->connection = turn.connection;
    }
    if (fiber == nullptr) return;  // the end
    if (!fiber->fiber.resume()) continue;
    if (spare == nullptr) {
      spare = fiber;
      continue;
    }
    const Lock lock(mutex_);
    free_fibers_.push_back(fiber);
  }
}

Workers::RequestFiber* Workers::take_fiber() {
  const Lock lock(mutex_);
  if (free_fibers_.empty()) {
    try {
      return fibers_.emplace_back(std::make_unique<RequestFiber>(*this)).get();
    } catch (const std::bad_alloc&) {
      return nullptr;
    }
  }
  RequestFiber* const fiber = free_fibers_.back();
  free_fibers_.pop_back();
  return fiber;
}

std::vector<Connection*> Workers::remove_requests() {
  const Lock lock(mutex_);
  std::vector<Connection*> out;
  std::erase_if(turns_, [&](const Turn& turn) {
    if (turn.connection != nullptr) out.push_back(turn.connection);
    return turn.connection != nullptr;
  });
  return out;
}

void Workers::stop() {
  {
    const Lock lock(mutex_);
    closed_ = true;
    while (std::atomic<std::uint32_t>* const woken = activate_one()) unpark(woken);
  }
  threads_.clear();  // joins
  while (pushing_.load() > 0) yield_processor();
}

std::size_t Workers::waiting() const {
  const Lock lock(mutex_);
  return turns_.size();
}

}  // namespace coffer::http
