// Secrets that are shown once and afterwards only compared (docs/contract.md#authentication).
// A fast hash is right here: the secrets are 256 random bits, so there is nothing to guess. It is
// keyed, so that someone who can write the file but has no master key cannot add a secret.
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

/// The only form of a compared secret that is ever stored.
using SecretHash = Sha256;

/// `prefix` and 256 random bits in lower-case hex.
Secret generate_secret(Random& random, std::string_view prefix);
/// `whsec_` and 256 random bits in padded base64: the form that Standard Webhooks libraries decode.
/// Has to be read back to sign, so it is sealed, not hashed.
Secret generate_webhook_secret(Random& random);

/// HMAC-SHA256 of secrets under a key of the file. Thread-safe.
class SecretHasher {
 public:
  explicit SecretHasher(Secret key) : key_(std::move(key)) {}
  SecretHash hash(std::string_view secret) const;
  /// Constant time. To keep an unknown client from answering faster than a wrong secret, compare
  /// with `no_secret_hash()` when there is nothing stored to compare with.
  bool matches(const SecretHash& stored, std::string_view presented) const;

 private:
  const Secret key_;
};
/// A hash that no secret is known to have.
const SecretHash& no_secret_hash();

}  // namespace coffer::auth
