// An annotated mutex, so that clang's -Wthread-safety checks the locking rules (std::mutex has no
// annotations). coffer uses no other mutex.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>

#if defined(__clang__)
#define COFFER_TSA(x) __attribute__((x))
#else
#define COFFER_TSA(x)
#endif
#define COFFER_GUARDED_BY(m) COFFER_TSA(guarded_by(m))
#define COFFER_REQUIRES(m) COFFER_TSA(requires_capability(m))

namespace coffer {

/// The number of mutexes that the calling thread holds. A fiber stays on its thread meanwhile.
inline constinit thread_local int held_mutexes = 0;

class COFFER_TSA(capability("mutex")) Mutex {
 public:
  void lock() COFFER_TSA(acquire_capability()) {
    mutex_.lock();
    ++held_mutexes;
  }
  void unlock() COFFER_TSA(release_capability()) {
    --held_mutexes;
    mutex_.unlock();
  }

 private:
  friend class Condition;
  std::mutex mutex_;
};

class COFFER_TSA(scoped_lockable) Lock {
 public:
  explicit Lock(Mutex& mutex) COFFER_TSA(acquire_capability(mutex)) : mutex_(mutex) {
    mutex_.lock();
  }
  ~Lock() COFFER_TSA(release_capability()) { mutex_.unlock(); }
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;

 private:
  Mutex& mutex_;
};

/// Waits while the caller's Lock holds `mutex`. Spurious wake-ups occur, so wait in a loop.
class Condition {
 public:
  void wait(Mutex& mutex) COFFER_REQUIRES(mutex) {
    std::unique_lock<std::mutex> adopted(mutex.mutex_, std::adopt_lock);
    condition_.wait(adopted);
    adopted.release();
  }
  /// Returns after a notification or after `ms` milliseconds.
  void wait_for_ms(Mutex& mutex, std::int64_t ms) COFFER_REQUIRES(mutex) {
    std::unique_lock<std::mutex> adopted(mutex.mutex_, std::adopt_lock);
    condition_.wait_for(adopted, std::chrono::milliseconds(ms));
    adopted.release();
  }
  void notify_one() { condition_.notify_one(); }
  void notify_all() { condition_.notify_all(); }

 private:
  std::condition_variable condition_;
};

}  // namespace coffer
