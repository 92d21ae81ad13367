#include "base/fibers/completion.h"

#include "base/fibers/fiber.h"
#include "base/platform/parking.h"

namespace coffer {
namespace {

constexpr std::uint32_t kPending = 0;
constexpr std::uint32_t kDone = 1;
constexpr std::uint32_t kFiberLeft = 2;

}  // namespace

void Completion::complete() {
  std::uint32_t before = kPending;
  if (state_.compare_exchange_strong(before, kDone, std::memory_order_acq_rel)) {
    unpark(&state_);
    return;
  }
  // The fiber waits until make_ready, so the object still exists.
  Fiber* const fiber = fiber_;
  state_.store(kDone, std::memory_order_release);
  fiber->make_ready();
}

bool Completion::leave(void* self) {
  std::uint32_t before = kPending;
  return static_cast<Completion*>(self)->state_.compare_exchange_strong(before, kFiberLeft,
                                                                        std::memory_order_acq_rel);
}

void Completion::wait() {
  if (state_.load(std::memory_order_acquire) == kDone) return;
  if (Fiber* const fiber = Fiber::movable()) {
    fiber_ = fiber;
    fiber->leave(&leave, this);
    return;
  }
  while (state_.load(std::memory_order_acquire) == kPending) park(state_, kPending);
}

}  // namespace coffer
