// Memory for large bodies, most of which a client may never send.
#pragma once

#include <cstdint>
#include <unordered_map>

#include "base/limits/lane.h"
#include "base/mutex.h"

namespace coffer::http {

/// One budget for all, of which a caller takes at most a quarter. Thread safe.
class BodyBudget {
 public:
  explicit BodyBudget(std::uint64_t bytes_max) : bytes_max_(bytes_max) {}

  enum class Grant { given, full, share_full };
  Grant take(LaneCaller caller, std::uint64_t bytes) {
    const Lock lock(mutex_);
    if (used_ + bytes > bytes_max_) return Grant::full;
    const auto at = by_caller_.find(caller.id);
    const std::uint64_t own = at == by_caller_.end() ? 0 : at->second;
    if (own != 0 && own + bytes > bytes_max_ / 4) return Grant::share_full;
    by_caller_[caller.id] = own + bytes;
    used_ += bytes;
    return Grant::given;
  }

  void give_back(LaneCaller caller, std::uint64_t bytes) {
    const Lock lock(mutex_);
    used_ -= bytes;
    const auto at = by_caller_.find(caller.id);
    if ((at->second -= bytes) == 0) by_caller_.erase(at);
  }

 private:
  const std::uint64_t bytes_max_;
  Mutex mutex_;
  std::uint64_t used_ COFFER_GUARDED_BY(mutex_) = 0;
  std::unordered_map<std::uint64_t, std::uint64_t> by_caller_ COFFER_GUARDED_BY(mutex_);
};

}  // namespace coffer::http
