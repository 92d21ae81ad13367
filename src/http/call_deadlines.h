// Ends calls to other machines at their deadlines, whatever they wait for at that moment.
//
// cpp-httplib's own limits cover single waits: a peer that sends one byte of a TLS handshake, or of
// a TLS record, before each of them ends holds a call for as long as it likes.
#pragma once

#include <cstdint>
#include <limits>
#include <map>

#include "base/clock.h"
#include "base/mutex.h"
#include "base/worker_thread.h"

namespace coffer::http {

/// Thread safe. Outlives its calls.
class CallDeadlines {
 public:
  CallDeadlines();

  /// One call, from its construction to its destruction. Of one thread.
  class Call {
   public:
    Call(CallDeadlines& deadlines, int timeout_ms);
    ~Call();
    Call(const Call&) = delete;
    Call& operator=(const Call&) = delete;

    /// The socket that the call waits on from now on. It is shut down when the call is over.
    void watch(int socket);
    /// The deadline has come, or all calls were cut.
    bool is_over() const;

   private:
    friend class CallDeadlines;
    void end();

    CallDeadlines& deadlines_;
    std::multimap<std::int64_t, Call*>::iterator place_;
    int socket_ = -1;  // a duplicate: the number of the original may pass to another connection
    bool over_ = false;
  };

  /// Ends all present calls and every later one, for good.
  void cut();

 private:
  std::int64_t step();
  void end_until(std::int64_t now_ms) COFFER_REQUIRES(mutex_);

  static constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();

  const SystemClock clock_;
  Mutex mutex_;
  std::multimap<std::int64_t, Call*> calls_ COFFER_GUARDED_BY(mutex_);  // by deadline, monotonic ms
  std::int64_t looks_at_ms_ COFFER_GUARDED_BY(mutex_) = kNever;         // the thread, monotonic
  bool cut_ COFFER_GUARDED_BY(mutex_) = false;
  WorkerThread thread_;  // last: starts when everything above is there
};

}  // namespace coffer::http
