// A thread that sleeps until a word in memory changes. std::atomic waits in the same way, but
// libstdc++ first calls sched_yield() several times. Each call is a context switch when processors
// are busy.
#pragma once

#include <atomic>
#include <cstdint>

namespace coffer {

/// Sleeps while the word has this value. May return earlier, so call it in a loop.
void park(const std::atomic<std::uint32_t>& word, std::uint32_t value);
/// Wakes a thread that sleeps on the word. Call it after a change of the word. Uses only the
/// address, so the word may be gone.
void unpark(std::atomic<std::uint32_t>* word);

/// One thread waits once until another is done. The waiter owns the object. `complete` does not
/// access it after the moment at which the waiter may continue (a wake-up uses only the address).
/// The completing thread therefore holds no lock for which the woken thread would have to wait.
class Completion {
 public:
  void complete() {
    done_.store(1, std::memory_order_release);
    unpark(&done_);
  }
  void wait() const {
    while (done_.load(std::memory_order_acquire) == 0) park(done_, 0);
  }

 private:
  std::atomic<std::uint32_t> done_{0};
};

}  // namespace coffer
