// The stacks on which workers serve requests, so that a request that waits for its commit uses no
// thread.
#pragma once

#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "base/fibers/fiber.h"
#include "base/mutex.h"
#include "http/adapter.h"

namespace coffer::http {

/// Serves one request at a time, on any worker.
struct RequestFiber {
  using Work = std::function<RequestFiber*(Adapter&)>;
  using Ready = std::function<void(RequestFiber&)>;
  /// `work` is the body; it returns what the worker continues with, or nullptr. `ready` is called
  /// when the body can continue after a wait (Fiber).
  RequestFiber(std::unique_ptr<Adapter> with, const Work& work, const Ready& ready)
      : adapter(std::move(with)),
        fiber([this, work] { next = work(*adapter); }, [this, ready] { ready(*this); }) {}

  const std::unique_ptr<Adapter> adapter;
  RequestFiber* next = nullptr;
  Fiber fiber;
};

/// Idle fibers. Created on demand and kept; at most one for each worker and each waiting request,
/// whose number the lanes limit. Thread-safe.
class RequestFibers {
 public:
  using Create = std::function<std::unique_ptr<RequestFiber>()>;
  explicit RequestFibers(Create create) : create_(std::move(create)) {}

  /// nullptr if there is no memory for another one.
  RequestFiber* take() {
    const Lock lock(mutex_);
    if (idle_.empty()) {
      try {
        return all_.emplace_back(create_()).get();
      } catch (const std::bad_alloc&) {
        return nullptr;
      }
    }
    RequestFiber* const fiber = idle_.back();
    idle_.pop_back();
    return fiber;
  }

  void put_back(RequestFiber& fiber) {
    const Lock lock(mutex_);
    idle_.push_back(&fiber);
  }

 private:
  const Create create_;
  Mutex mutex_;
  std::vector<std::unique_ptr<RequestFiber>> all_ COFFER_GUARDED_BY(mutex_);
  std::vector<RequestFiber*> idle_ COFFER_GUARDED_BY(mutex_);  // the most recently used is last
};

}  // namespace coffer::http
