// Against guessing: after a few failures a key has to wait, also with the right password.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>

#include "base/mutex.h"

namespace coffer::cli {

/// Thread-safe. Times are monotonic milliseconds. What is known of a key is forgotten when it has
/// been quiet for a while; when too many keys are known at once, unknown ones have to wait too.
class Throttle {
 public:
  static constexpr std::int64_t kBlockMs = 15 * 60'000;
  static constexpr std::size_t kKeysMax = 10'000;

  explicit Throttle(int failures) : failures_(failures) {}

  /// Milliseconds until the next try of this key; 0: now.
  std::int64_t wait_ms(const std::string& key, std::int64_t now_ms);
  void failed(const std::string& key, std::int64_t now_ms);
  void succeeded(const std::string& key);

 private:
  struct Entry {
    int failures = 0;
    std::int64_t last_ms = 0;
  };

  const int failures_;  // that are free within kBlockMs
  Mutex mutex_;
  std::unordered_map<std::string, Entry> entries_ COFFER_GUARDED_BY(mutex_);
};

}  // namespace coffer::cli
