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
struct RequestFiber;

/// The next work of a worker: a new request (or a TLS handshake), or a fiber that can continue.
/// Both null: none.
struct Turn {
  Connection* connection = nullptr;
  RequestFiber* fiber = nullptr;
  explicit operator bool() const { return connection != nullptr || fiber != nullptr; }
};

/// Turns are first in, first out. Resting workers are last in, first out, so the same few workers
/// do most of the work. Thread-safe; the counters are read without a lock.
class RequestQueue {
 public:
  /// Returns true if the queue was empty.
  bool push(Turn turn) {
    const Lock lock(mutex_);
    waiting_.push_back(turn);
    size_.store(waiting_.size());
    return waiting_.size() == 1;
  }

  Turn pop() {
    if (size() == 0) return {};
    const Lock lock(mutex_);
    if (waiting_.empty()) return {};
    const Turn turn = waiting_.front();
    waiting_.pop_front();
    size_.store(waiting_.size());
    taken_.fetch_add(1);
    return turn;
  }

  /// Removes and returns the new requests; fibers stay.
  std::vector<Connection*> remove_requests() {
    const Lock lock(mutex_);
    std::vector<Connection*> out;
    std::erase_if(waiting_, [&](const Turn& turn) {
      if (turn.connection != nullptr) out.push_back(turn.connection);
      return turn.connection != nullptr;
    });
    size_.store(waiting_.size());
    return out;
  }

  /// Sleeps until woken. Returns immediately if a turn is waiting or the queue is closed.
  void rest() {
    Resting self;
    const Lock lock(mutex_);
    if (closed_ || !waiting_.empty()) return;
    resting_.push_back(&self);
    resting_count_.store(resting_.size());
    while (!self.woken) self.changed.wait(mutex_);
  }

  /// Wakes a resting worker for each waiting turn, at most `count`. Returns the number of those
  /// turns for which no worker was resting.
  std::size_t wake_resting(std::size_t count) {
    const Lock lock(mutex_);
    const std::size_t wanted = std::min(waiting_.size(), count);
    const std::size_t woken = std::min(wanted, resting_.size());
    wake(woken);
    return wanted - woken;
  }

  /// Wakes all resting workers; later calls of rest() return immediately.
  void close() {
    const Lock lock(mutex_);
    closed_ = true;
    wake(resting_.size());
  }

  // Sequentially consistent, like every access: see Server::Impl::enqueue.
  std::size_t size() const { return size_.load(); }
  std::size_t resting() const { return resting_count_.load(); }
  /// Number of turns taken so far.
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
  std::deque<Turn> waiting_ COFFER_GUARDED_BY(mutex_);
  std::vector<Resting*> resting_ COFFER_GUARDED_BY(mutex_);
  bool closed_ COFFER_GUARDED_BY(mutex_) = false;
};

}  // namespace coffer::http
