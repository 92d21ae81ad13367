// Limits the memory that clients occupy with bodies that they do not complete and responses that
// they do not read.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <utility>

#include "base/limits/lane.h"
#include "base/mutex.h"

namespace coffer::http {

/// One shared budget, of which a caller can use a quarter. Thread-safe.
class MemoryBudget {
 public:
  explicit MemoryBudget(std::uint64_t bytes_max) : bytes_max_(bytes_max) {}

  enum class Grant { given, full, share_full };
  Grant take(LaneCaller caller, std::uint64_t bytes) {
    if (bytes == 0) return Grant::given;
    const Lock lock(mutex_);
    if (used_ + bytes > bytes_max_) return Grant::full;
    const auto at = by_caller_.find(caller.id);
    const std::uint64_t own = at == by_caller_.end() ? 0 : at->second;
    if (own != 0 && own + bytes > bytes_max_ / 4) return Grant::share_full;
    by_caller_[caller.id] = own + bytes;
    used_ += bytes;
    return Grant::given;
  }

  std::uint64_t used() const {
    const Lock lock(mutex_);
    return used_;
  }

  void give_back(LaneCaller caller, std::uint64_t bytes) {
    const Lock lock(mutex_);
    used_ -= bytes;
    const auto at = by_caller_.find(caller.id);
    if ((at->second -= bytes) == 0) by_caller_.erase(at);
  }

 private:
  const std::uint64_t bytes_max_;
  mutable Mutex mutex_;
  std::uint64_t used_ COFFER_GUARDED_BY(mutex_) = 0;
  std::unordered_map<std::uint64_t, std::uint64_t> by_caller_ COFFER_GUARDED_BY(mutex_);
};

/// The part of a budget that one connection uses. For one thread at a time.
class Reservation {
 public:
  Reservation() = default;
  ~Reservation() { give_back(); }
  Reservation(const Reservation&) = delete;
  Reservation& operator=(Reservation&& other) noexcept {
    give_back();
    budget_ = std::exchange(other.budget_, nullptr);
    caller_ = other.caller_;
    bytes_ = other.bytes_;
    return *this;
  }

  /// Returns its previous reservation first. `budget` must outlive the reservation.
  MemoryBudget::Grant take(MemoryBudget& budget, LaneCaller caller, std::uint64_t bytes) {
    give_back();
    const auto grant = budget.take(caller, bytes);
    if (grant != MemoryBudget::Grant::given || bytes == 0) return grant;
    budget_ = &budget;
    caller_ = caller;
    bytes_ = bytes;
    return grant;
  }
  void give_back() {
    if (budget_ != nullptr) std::exchange(budget_, nullptr)->give_back(caller_, bytes_);
  }
  bool is_of(const MemoryBudget& budget) const { return budget_ == &budget; }

 private:
  MemoryBudget* budget_ = nullptr;
  LaneCaller caller_;
  std::uint64_t bytes_ = 0;
};

}  // namespace coffer::http
