// A named operating-system thread. coffer uses no other threads. Most code should use WorkerThread.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <thread>

namespace coffer {

/// Runs `body` on a new thread from construction on. An exception that leaves `body` terminates the
/// process. Movable, so that a vector can hold a pool. The destructor joins.
class Thread {
 public:
  Thread() = default;
  /// `name` appears in ps, gdb and perf. Linux keeps the first 15 bytes.
  Thread(std::string name, std::function<void()> body);
  ~Thread();
  Thread(Thread&&) noexcept = default;
  Thread& operator=(Thread&&) noexcept = default;  // never assign to a running thread

  /// Waits until `body` has returned. Idempotent. Do not call it from `body`.
  void join();

 private:
  std::thread thread_;
};

/// After this call, a wake-up of the calling thread does not preempt the thread that caused it; the
/// calling thread waits for a free processor. For threads that are woken many at a time. No effect
/// on systems without such a policy.
void wake_without_preempting();

/// Lets the threads that wait for this processor run first. For long work that no request waits
/// for: Linux otherwise lets a thread continue for up to 3 ms when another one wakes up.
void yield_processor();

/// Suspends the calling thread for `ms` milliseconds.
void rest(std::int64_t ms);

}  // namespace coffer
