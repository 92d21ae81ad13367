// Complete requests that wait because every worker is busy.
#pragma once

#include <atomic>
#include <cstddef>
#include <deque>

#include "base/mutex.h"

namespace coffer::http {

class Connection;

/// First in, first out, bounded. Thread safe; `size` is a load, so that a worker can look before
/// each wait for nothing.
class RequestQueue {
 public:
  explicit RequestQueue(std::size_t capacity) : capacity_(capacity) {}

  bool push(Connection& connection) {
    const Lock lock(mutex_);
    if (waiting_.size() >= capacity_) return false;
    waiting_.push_back(&connection);
    size_.store(waiting_.size());
    return true;
  }

  Connection* pop() {
    if (size() == 0) return nullptr;
    const Lock lock(mutex_);
    if (waiting_.empty()) return nullptr;
    Connection* connection = waiting_.front();
    waiting_.pop_front();
    size_.store(waiting_.size());
    return connection;
  }

  // Sequentially consistent, like every access: see Server::Impl::enqueue.
  std::size_t size() const { return size_.load(); }

 private:
  const std::size_t capacity_;
  std::atomic<std::size_t> size_{0};
  Mutex mutex_;
  std::deque<Connection*> waiting_ COFFER_GUARDED_BY(mutex_);
};

}  // namespace coffer::http
