// Lets a thread or fiber wait for work that another thread does for it.
#pragma once

#include <atomic>
#include <cstdint>

namespace coffer {

class Fiber;

/// Single use; the waiter owns the object. Once the waiter may continue, `complete` no longer
/// accesses the object (a wake-up uses only its address). The waiter therefore never has to wait
/// for a lock of the completing thread.
class Completion {
 public:
  void complete();
  /// A fiber leaves its thread to other work meanwhile and may continue on another thread.
  void wait();

 private:
  static bool leave(void* self);

  std::atomic<std::uint32_t> state_{0};
  Fiber* fiber_ = nullptr;  // set before `state_` reports that the fiber has left its thread
};

}  // namespace coffer
