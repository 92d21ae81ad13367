// How one thread or fiber waits until another thread has done something for it.
#pragma once

#include <atomic>
#include <cstdint>

namespace coffer {

class Fiber;

/// Used once. The waiter owns the object. `complete` does not access it after the moment at which
/// the waiter may continue (a wake-up uses only the address). The completing thread therefore holds
/// no lock for which the waiter would have to wait.
class Completion {
 public:
  void complete();
  /// On a fiber, the thread does other work meanwhile, and another thread may continue.
  void wait();

 private:
  static bool leave(void* self);

  std::atomic<std::uint32_t> state_{0};
  Fiber* fiber_ = nullptr;  // written before the state says that it has left its thread
};

}  // namespace coffer
