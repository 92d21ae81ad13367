// The threads that serve requests, each request on a fiber (base/fibers/fiber.h): while it waits
// for its commit, its thread serves others. Measured per payment, compared with a thread per
// waiting request: 0.81 of the processor time at 64 connections; with 512 payments that wait for
// commits of 20 ms, 0.71 of it, and 31 threads instead of 470.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <vector>

#include "base/fibers/fiber.h"
#include "base/mutex.h"
#include "base/thread.h"
#include "http/wire/adapter.h"

namespace coffer::http {

/// Takes requests first in, first out. As many workers as there are processors are active; the
/// others are idle. If the active ones make no progress with the queue, they are blocked, for
/// example in a call to a provider, and others become active instead. Thread-safe, except where a
/// function says more.
class Workers {
 public:
  struct Callbacks {
    std::function<std::unique_ptr<Adapter>()> make_adapter;
    /// Serves a request, or continues a TLS handshake. Runs on a worker.
    std::function<void(Connection&, Adapter&)> serve;
    /// Arranges a call of `tend`. Runs on any thread and must not block.
    std::function<void()> watch;
  };
  /// At most `count_max` threads.
  Workers(std::size_t count_max, Callbacks callbacks);
  ~Workers();

  /// Starts the first threads.
  void start();
  /// The connection belongs to the worker that takes it.
  void push(Connection& connection) { push({&connection, nullptr}, true); }
  /// The same for the thread that calls `tend`.
  void push_before_tend(Connection& connection) { push({&connection, nullptr}, false); }
  /// For one thread. Replaces blocked workers. Returns true if requests are waiting: call it again
  /// within a millisecond or two.
  bool tend(std::int64_t now_ms);
  /// Removes and returns the requests that no worker has taken yet.
  std::vector<Connection*> remove_requests();
  /// Waits for all requests that a worker has taken. Call it once `tend` is not called any more.
  void stop();

  std::size_t waiting() const;
  std::size_t count() const { return count_.load(std::memory_order_relaxed); }

 private:
  struct RequestFiber;
  /// A new request, or a fiber that can continue. Both null: the end.
  struct Turn {
    Connection* connection = nullptr;
    RequestFiber* fiber = nullptr;
  };
  struct Worker {
    std::atomic<std::uint32_t> awake{1};
    bool is_waking = false;
    // In which it is active; 0: it is idle, or was replaced.
    std::uint64_t epoch = 0;
  };

  void push(Turn turn, bool may_watch);
  Turn pop(Worker& self);
  std::atomic<std::uint32_t>* activate_next() COFFER_REQUIRES(mutex_);
  std::atomic<std::uint32_t>* activate_one() COFFER_REQUIRES(mutex_);
  bool start_one();
  void run();
  RequestFiber* take_fiber();

  const std::size_t count_max_;
  const Callbacks callbacks_;
  const std::size_t active_max_;
  mutable Mutex mutex_;
  std::deque<Turn> turns_ COFFER_GUARDED_BY(mutex_);
  std::vector<Worker*> idle_ COFFER_GUARDED_BY(mutex_);  // the most recently active is last
  std::uint64_t epoch_ COFFER_GUARDED_BY(mutex_) = 1;    // ends when active workers are replaced
  std::size_t active_ COFFER_GUARDED_BY(mutex_) = 0;     // of this epoch
  std::size_t waking_ COFFER_GUARDED_BY(mutex_) = 0;     // active, but have not looked yet
  std::uint64_t taken_ COFFER_GUARDED_BY(mutex_) = 0;    // turns so far
  bool watched_ COFFER_GUARDED_BY(mutex_) = false;       // `tend` will be called soon
  bool closed_ COFFER_GUARDED_BY(mutex_) = false;
  // Created on demand and kept: at most one for each worker and each waiting request, whose number
  // the lanes limit.
  std::vector<std::unique_ptr<RequestFiber>> fibers_ COFFER_GUARDED_BY(mutex_);
  std::vector<RequestFiber*> free_fibers_ COFFER_GUARDED_BY(mutex_);  // the last used is last
  std::atomic<int> pushing_{0};  // threads in push(), possibly beyond the end of the request
  std::atomic<std::size_t> count_{0};

  // Used by the thread that calls `tend`, before and after it by start() and stop().
  std::vector<Thread> threads_;
  std::uint64_t taken_before_ = 0;
  std::int64_t stuck_since_ms_ = 0;
  std::int64_t next_log_ms_ = 0;
};

}  // namespace coffer::http
