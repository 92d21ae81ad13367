// Who is signed in to the admin page. In memory only: a restart ends every session.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "base/digest.h"
#include "base/mutex.h"
#include "base/random.h"
#include "base/strong.h"
#include "domain/ids.h"

namespace coffer::cli {

/// One browser that is signed in.
struct AdminSession {
  OperatorId operator_id;
  std::int64_t version = 0;   // of the operator's row when it began; a newer row ends it
  std::string csrf;           // what every change has to bring along
  Secret otp_key;             // raw; being enrolled, until a code has proved it
  std::int64_t began_ms = 0;  // monotonic
  std::int64_t used_ms = 0;
};

/// Thread-safe. Times are monotonic milliseconds.
class AdminSessions {
 public:
  static constexpr std::int64_t kIdleMs = 15 * 60'000;
  static constexpr std::int64_t kLongestMs = 8 * 3'600'000;
  static constexpr std::size_t kMax = 1'000;

  /// A new session under a new 256-bit id, which is returned and kept only as a hash. When there
  /// are too many, the one unused for longest ends.
  std::string begin(Random& random, OperatorId id, std::int64_t version, std::int64_t now_ms);
  /// Returns a copy and restarts the idle time; nullopt if the session does not exist or has ended.
  std::optional<AdminSession> find(const std::string& id, std::int64_t now_ms);
  /// Nothing when the session is over.
  void set_otp_key(const std::string& id, const Secret& key);
  void end(const std::string& id);

 private:
  void drop_old(std::int64_t now_ms) COFFER_REQUIRES(mutex_);

  Mutex mutex_;
  std::map<Sha256, AdminSession> sessions_ COFFER_GUARDED_BY(mutex_);
};

}  // namespace coffer::cli
