// The sessions of operators on the admin page, and what begins one. They exist in memory only, so a
// restart ends them.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/digest.h"
#include "base/mutex.h"
#include "base/random.h"
#include "base/strong.h"
#include "domain/ids.h"

namespace coffer::flows {

/// A signed-in browser.
struct OperatorSession {
  OperatorId operator_id;
  std::int64_t version = 0;  // of the operator's row at the start; a newer row ends the session
  std::string csrf = {};     // token that every change must carry
  bool by_provider =
      false;  // signed in with an identity provider, which is responsible for second factors
  Secret otp_key = {};       // raw key during enrolment, until a code confirms it
  std::string address = {};  // source address of the sign-in
  std::string browser = {};  // its User-Agent
  Timestamp began_at = {};
  std::int64_t began_ms = 0;  // monotonic; when password and second factor were verified
  std::int64_t used_ms = 0;   // monotonic
};

/// A session, as shown in lists.
struct ListedSession {
  std::string id;  // identifies the session, but does not grant access
  OperatorSession session;
};

/// Thread-safe. Times are monotonic milliseconds.
class OperatorSessions {
 public:
  static constexpr std::int64_t kIdleMs = 15 * kMinuteMs;
  static constexpr std::int64_t kLongestMs = 8 * kHourMs;
  /// How long after the sign-in an operator may move money and change access without signing in
  /// again.
  static constexpr std::int64_t kFreshMs = 10 * kMinuteMs;
  static constexpr std::size_t kMax = 1'000;
  static constexpr std::size_t kPerOperatorMax = 20;

  /// Starts a session and returns its 256-bit secret, of which only a hash is kept. If the operator
  /// has too many sessions, or all operators together do, the least recently used one ends.
  std::string begin(Random& random, OperatorSession session, std::int64_t now_ms);
  /// Returns a copy and restarts the idle time; nullopt if the session does not exist or has ended.
  std::optional<OperatorSession> find(const std::string& secret, std::int64_t now_ms);
  /// Does nothing if the session has ended.
  void set_otp_key(const std::string& secret, const Secret& key);
  void end(const std::string& secret);

  /// The sessions of one operator, or all sessions; the most recently used first.
  std::vector<ListedSession> list(std::optional<OperatorId> of, std::int64_t now_ms);
  /// Ends the session with this listed ID; with `of`, only if it belongs to that operator. False if
  /// not found.
  bool end_listed(const std::string& id, std::optional<OperatorId> of);
  /// The listed ID of the session with this secret.
  static std::string listed_id(const std::string& secret);

 private:
  using Sessions = std::map<Sha256, OperatorSession>;
  void drop_old(std::int64_t now_ms) COFFER_REQUIRES(mutex_);
  void make_room(std::optional<OperatorId> of, std::size_t max) COFFER_REQUIRES(mutex_);

  Mutex mutex_;
  Sessions sessions_ COFFER_GUARDED_BY(mutex_);
};

/// Random texts that a browser must return: passkey challenges, which come back signed, and the
/// state of a sign-in with a provider. Each is valid for a few minutes, once, and for one purpose.
/// Thread-safe. In memory only: a restart invalidates all texts. A text contains its own proof, so
/// issuing one stores nothing, and unauthenticated requests cannot displace other texts. Only used
/// texts are stored.
class SignInChallenges {
 public:
  static constexpr std::int64_t kLifetimeMs = 5 * kMinuteMs;
  static constexpr std::size_t kUsedMax = 10'000;

  explicit SignInChallenges(Random& random);

  /// Returns raw bytes. `purpose` identifies the use and the user of the text.
  std::string issue(std::string_view purpose, std::int64_t now_ms) const;
  /// Whether the text was issued for this purpose, has not expired and was not used.
  bool is_valid(std::string_view challenge, std::string_view purpose, std::int64_t now_ms);
  /// The same, and marks the text as used. Call it after all other checks have passed.
  bool use(std::string_view challenge, std::string_view purpose, std::int64_t now_ms);
  /// When a valid challenge was issued, as the `now_ms` of that call.
  static std::int64_t issued_ms(std::string_view challenge);
  /// A secret derived from a challenge: 32 raw bytes.
  Secret derive(std::string_view challenge, std::string_view name) const;

 private:
  bool is_own(std::string_view challenge, std::string_view purpose, std::int64_t now_ms) const;

  Random& random_;
  const Secret key_;
  Mutex mutex_;
  // Used challenges, with the time when they expire.
  std::map<std::string, std::int64_t, std::less<>> used_ COFFER_GUARDED_BY(mutex_);
};

}  // namespace coffer::flows
