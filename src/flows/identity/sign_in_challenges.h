// Random texts that a browser must return: passkey challenges, which come back signed, and the
// state of a sign-in with a provider. Each is valid for a few minutes, once, and for one purpose.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "base/mutex.h"
#include "base/random.h"
#include "base/strong.h"

namespace coffer::flows {

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
