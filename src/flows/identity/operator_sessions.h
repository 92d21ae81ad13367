// Who is signed in to the admin page. In memory only: a restart ends every session.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/digest.h"
#include "base/mutex.h"
#include "base/random.h"
#include "base/strong.h"
#include "domain/ids.h"

namespace coffer::flows {

/// One browser that is signed in.
struct OperatorSession {
  OperatorId operator_id;
  std::int64_t version = 0;  // of the operator's row when it began; a newer row ends it
  std::string csrf = {};     // what every change has to bring along
  bool by_provider = false;  // signed in with an identity provider, which asked for its factors
  Secret otp_key = {};       // raw; being enrolled, until a code has proved it
  std::string address = {};  // where the sign-in came from
  std::string browser = {};  // as it names itself
  Timestamp began_at = {};
  std::int64_t began_ms = 0;  // monotonic; password and second factor were proved then
  std::int64_t used_ms = 0;   // monotonic
};

/// A session as lists show it.
struct ListedSession {
  std::string id;  // names it, and opens nothing
  OperatorSession session;
};

/// Thread-safe. Times are monotonic milliseconds.
class OperatorSessions {
 public:
  static constexpr std::int64_t kIdleMs = 15 * 60'000;
  static constexpr std::int64_t kLongestMs = 8 * 3'600'000;
  /// How long after the sign-in money may be moved and access be changed without another.
  static constexpr std::int64_t kFreshMs = 10 * 60'000;
  static constexpr std::size_t kMax = 1'000;
  static constexpr std::size_t kPerOperatorMax = 20;

  /// A new session under a new 256-bit secret, which is returned and kept only as a hash. When an
  /// operator has too many, the one unused for longest ends; likewise of all operators.
  std::string begin(Random& random, OperatorSession session, std::int64_t now_ms);
  /// Returns a copy and restarts the idle time; nullopt if the session does not exist or has ended.
  std::optional<OperatorSession> find(const std::string& secret, std::int64_t now_ms);
  /// Nothing when the session is over.
  void set_otp_key(const std::string& secret, const Secret& key);
  void end(const std::string& secret);

  /// Those of one operator, or all; the latest used first.
  std::vector<ListedSession> list(std::optional<OperatorId> of, std::int64_t now_ms);
  /// By the id in the list; of this operator only, if given. False if not found.
  bool end_listed(const std::string& id, std::optional<OperatorId> of);
  /// The id in the list of the session with this secret.
  static std::string listed_id(const std::string& secret);

 private:
  using Sessions = std::map<Sha256, OperatorSession>;
  void drop_old(std::int64_t now_ms) COFFER_REQUIRES(mutex_);
  void make_room(std::optional<OperatorId> of, std::size_t max) COFFER_REQUIRES(mutex_);

  Mutex mutex_;
  Sessions sessions_ COFFER_GUARDED_BY(mutex_);
};

}  // namespace coffer::flows
