// A named operating-system thread. The only threads in coffer; most code wants WorkerThread.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <thread>

namespace coffer {

/// Runs `body` on a thread of its own from construction on. An exception that leaves `body` ends
/// the process. Movable, so that a pool can live in a vector; the destructor joins.
class Thread {
 public:
  Thread() = default;
  /// `name` shows in ps, gdb and perf; Linux keeps its first 15 bytes.
  Thread(std::string name, std::function<void()> body);
  ~Thread();
  Thread(Thread&&) noexcept = default;
  Thread& operator=(Thread&&) noexcept = default;  // not onto one that still runs

  /// Waits until `body` has returned. Idempotent. Not from inside `body`.
  void join();

 private:
  std::thread thread_;
};

/// The calling thread, when it wakes up, waits for a processor instead of taking that of the thread
/// that woke it: for many threads that one thread wakes at a time. Does nothing where the system
/// has no such policy.
void wake_without_preempting();

/// The calling thread does nothing for `ms` milliseconds.
void rest(std::int64_t ms);

}  // namespace coffer
