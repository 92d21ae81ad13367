// Secrets that are shown once and compared afterwards (docs/contract.md#authentication). A fast
// hash is sufficient, because the secrets are 256 random bits and cannot be guessed. The hash is
// keyed, so that write access to the file without the master key is not enough to add a secret.
#pragma once

#include <string_view>
#include <utility>

#include "base/digest.h"
#include "base/random.h"
#include "base/strong.h"

namespace coffer::auth {

inline constexpr std::string_view kClientSecretPrefix = "sk_";
inline constexpr std::string_view kApiKeyPrefix = "ak_";
inline constexpr std::string_view kConnectSecretPrefix = "ck_";
inline constexpr std::string_view kSignInSecretPrefix = "si_";
inline constexpr std::string_view kRefreshTokenPrefix = "rt_";

/// The only stored form of a compared secret.
using SecretHash = Sha256;

/// `prefix` and 256 random bits in lower-case hex.
Secret generate_secret(Random& random, std::string_view prefix);
/// `whsec_` and 256 random bits in padded base64, the form that Standard Webhooks libraries decode.
/// coffer signs with this secret, so it is sealed instead of hashed.
Secret generate_webhook_secret(Random& random);

/// HMAC-SHA256 of secrets under a key of the database file. Thread-safe.
class SecretHasher {
 public:
  explicit SecretHasher(Secret key) : key_(std::move(key)) {}
  SecretHash hash(std::string_view secret) const;
  /// Compares in constant time. If no hash is stored for a client, compare with `no_secret_hash()`,
  /// so that an unknown client and a wrong secret take the same time.
  bool matches(const SecretHash& stored, std::string_view presented) const;

 private:
  const Secret key_;
};
/// A hash that matches no known secret.
const SecretHash& no_secret_hash();

}  // namespace coffer::auth
