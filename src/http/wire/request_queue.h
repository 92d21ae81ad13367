// Requests that wait for workers, and workers that wait for requests.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "base/mutex.h"

namespace coffer::http {

class Connection;

/// Requests are first in, first out. Resting workers are last in, first out, so that the same few
/// workers do the work. Thread-safe; the counters are read without a lock.
class RequestQueue {
 public:
  void push(Connection& connection) {
    const Lock lock(mutex_);
    waiting_.push_back(&connection);
    size_.store(waiting_.size());
  }

  Connection* pop() {
    if (size() == 0) return nullptr;
    const Lock lock(mutex_);
    if (waiting_.empty()) return nullptr;
    Connection* connection = waiting_.front();
    waiting_.pop_front();
    size_.store(waiting_.size());
    taken_.fetch_add(1);
    return connection;
  }

  /// Sleeps until woken. Returns immediately if a request is waiting or the queue is closed.
  void rest() {
    Resting self;
    const Lock lock(mutex_);
    if (closed_ || !waiting_.empty()) return;
    resting_.push_back(&self);
    resting_count_.store(resting_.size());
    while (!self.woken) self.changed.wait(mutex_);
  }

  /// Wakes one resting worker per waiting request, if there are any.
  void wake_resting() {
    const Lock lock(mutex_);
    wake(std::min(waiting_.size(), resting_.size()));
  }

  /// Wakes all resting workers permanently.
  void close() {
    const Lock lock(mutex_);
    closed_ = true;
    wake(resting_.size());
  }

  // Sequentially consistent, like every access: see Server::Impl::enqueue.
  std::size_t size() const { return size_.load(); }
  std::size_t resting() const { return resting_count_.load(); }
  /// Number of requests taken so far.
  std::uint64_t taken() const { return taken_.load(); }

 private:
  struct Resting {
    Condition changed;
    bool woken = false;
  };

  void wake(std::size_t count) COFFER_REQUIRES(mutex_) {
    for (; count > 0; --count) {
      resting_.back()->woken = true;
      resting_.back()->changed.notify_one();
      resting_.pop_back();
    }
    resting_count_.store(resting_.size());
  }

  std::atomic<std::size_t> size_{0};
  std::atomic<std::size_t> resting_count_{0};
  std::atomic<std::uint64_t> taken_{0};
  Mutex mutex_;
  std::deque<Connection*> waiting_ COFFER_GUARDED_BY(mutex_);
  std::vector<Resting*> resting_ COFFER_GUARDED_BY(mutex_);
  bool closed_ COFFER_GUARDED_BY(mutex_) = false;
};

}  // namespace coffer::http
