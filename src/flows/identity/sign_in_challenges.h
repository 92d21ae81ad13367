// Random texts that a browser has to bring back signed, or at all: challenges of passkeys, and the
// state of a sign-in with a provider. Each is valid for minutes, once, and only for what it was
// issued for.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "base/digest.h"
#include "base/mutex.h"
#include "base/random.h"
#include "base/strong.h"

namespace coffer::flows {

/// Thread-safe. In memory only: a restart voids all of them. Issuing stores nothing, because a text
/// carries its proof; so requests of strangers cannot displace the texts of others. Only texts that
/// were used are remembered.
class SignInChallenges {
 public:
  static constexpr std::int64_t kLifetimeMs = 5 * 60'000;
  static constexpr std::size_t kUsedMax = 10'000;

  explicit SignInChallenges(Random& random);

  /// Raw bytes. `purpose` names what it is for, and for whom.
  std::string issue(std::string_view purpose, std::int64_t now_ms) const;
  /// Whether it was issued for this purpose, and has not expired or been used.
  bool is_valid(std::string_view challenge, std::string_view purpose, std::int64_t now_ms);
  /// The same, and uses it up. Call after everything else was right.
  bool use(std::string_view challenge, std::string_view purpose, std::int64_t now_ms);
  /// A secret that belongs to a challenge; raw, 32 bytes.
  Secret derive(std::string_view challenge, std::string_view name) const;

 private:
  bool is_own(std::string_view challenge, std::string_view purpose, std::int64_t now_ms) const;

  Random& random_;
  const Secret key_;
  Mutex mutex_;
  // The time when it would have expired, by challenge.
  std::map<std::string, std::int64_t, std::less<>> used_ COFFER_GUARDED_BY(mutex_);
};

}  // namespace coffer::flows
