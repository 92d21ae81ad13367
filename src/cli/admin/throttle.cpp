#include "cli/admin/throttle.h"

namespace coffer::cli {

std::int64_t Throttle::wait_ms(const std::string& key, std::int64_t now_ms) {
  const Lock lock(mutex_);
  std::erase_if(entries_,
                [&](const auto& entry) { return now_ms - entry.second.last_ms >= kBlockMs; });
  const auto found = entries_.find(key);
  if (found == entries_.end()) return entries_.size() < kKeysMax ? 0 : kBlockMs;
  if (found->second.failures < failures_) return 0;
  return found->second.last_ms + kBlockMs - now_ms;
}

void Throttle::failed(const std::string& key, std::int64_t now_ms) {
  const Lock lock(mutex_);
  Entry& entry = entries_[key];
  ++entry.failures;
  entry.last_ms = now_ms;
}

void Throttle::succeeded(const std::string& key) {
  const Lock lock(mutex_);
  entries_.erase(key);
}

}  // namespace coffer::cli
