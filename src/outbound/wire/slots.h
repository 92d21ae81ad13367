// Bounded waits for other machines: a fixed number of places and no queue. A caller that finds no
// place free does not wait.
#pragma once

#include <atomic>
#include <optional>
#include <utility>

namespace coffer::outbound {

/// Thread safe. Outlives its slots.
class Slots {
 public:
  explicit Slots(int width) : free_(width) {}

  /// One place, given back by the destructor.
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

  /// At once; nullopt while all are taken.
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
