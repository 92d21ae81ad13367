// Limits concurrent waits for other machines: a fixed number of slots and no queue. A caller
// without a free slot does not wait.
#pragma once

#include <atomic>
#include <optional>
#include <utility>

namespace coffer::outbound {

/// Thread-safe. Must outlive its slots.
class Slots {
 public:
  explicit Slots(int width) : free_(width) {}

  /// One slot, released by the destructor.
  class Slot {
   public:
    Slot(Slot&& other) noexcept : slots_(std::exchange(other.slots_, nullptr)) {}
    Slot& operator=(Slot&&) = delete;
    ~Slot() {
      if (slots_ != nullptr) slots_->free_.fetch_add(1);
    }

   private:
    friend class Slots;
    explicit Slot(Slots& slots) : slots_(&slots) {}
    Slots* slots_;
  };

  /// Returns immediately; nullopt if all are taken.
  std::optional<Slot> try_take() {
    for (int free = free_.load(); free > 0;) {
      if (free_.compare_exchange_weak(free, free - 1)) return Slot(*this);
    }
    return std::nullopt;
  }

 private:
  std::atomic<int> free_;
};

}  // namespace coffer::outbound
