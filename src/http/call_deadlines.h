// Ends calls to other machines at their deadlines, in any state.
//
// cpp-httplib's own limits apply to single waits. A peer that sends one byte of a TLS handshake or
// record before each limit could otherwise hold a call indefinitely.
#pragma once

#include <cstdint>
#include <limits>
#include <map>

#include "base/clock.h"
#include "base/mutex.h"
#include "base/telemetry/worker_thread.h"

namespace coffer::http {

/// Thread-safe. Must outlive its calls.
class CallDeadlines {
 public:
  CallDeadlines();

  /// One call, from construction to destruction. For one thread.
  class Call {
   public:
    Call(CallDeadlines& deadlines, int timeout_ms);
    ~Call();
    Call(const Call&) = delete;
    Call& operator=(const Call&) = delete;

    /// Sets the socket that the call uses from now on. It is shut down at the deadline.
    void watch(int socket);
    /// Whether the deadline has passed or all calls were cut.
    bool is_over() const;

   private:
    friend class CallDeadlines;
    void end();

    CallDeadlines& deadlines_;
    std::multimap<std::int64_t, Call*>::iterator place_;
    int socket_ = -1;  // a duplicate, because the original number may be reused for another socket
    bool over_ = false;
  };

  /// Ends all present and future calls permanently: at once, or after a time.
  void cut() { cut_after(0); }
  void cut_after(int ms);
  /// Suspends the calling thread for `ms`, at most until the calls are cut.
  void rest(int ms);

 private:
  std::int64_t step();
  void end_until(std::int64_t now_ms) COFFER_REQUIRES(mutex_);

  static constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();

  const SystemClock clock_;
  Mutex mutex_;
  std::multimap<std::int64_t, Call*> calls_ COFFER_GUARDED_BY(mutex_);  // by deadline, monotonic ms
  // Next run of the thread, monotonic ms.
  std::int64_t looks_at_ms_ COFFER_GUARDED_BY(mutex_) = kNever;
  std::int64_t cut_at_ms_ COFFER_GUARDED_BY(mutex_) = kNever;  // monotonic ms
  WorkerThread thread_;  // last member: starts when all others are initialised
};

}  // namespace coffer::http
