#include "auth/secret_hash.h"

#include <string>

namespace coffer::auth {
namespace {

constexpr std::size_t kSecretBytes = 32;
constexpr std::string_view kWebhookSecretPrefix = "whsec_";

}  // namespace

Secret generate_secret(Random& random, std::string_view prefix) {
  return Secret(std::string(prefix) + to_hex(random.bytes(kSecretBytes)));
}

Secret generate_webhook_secret(Random& random) {
  return Secret(std::string(kWebhookSecretPrefix) + to_base64(random.bytes(kSecretBytes)));
}

SecretHash SecretHasher::hash(std::string_view secret) const {
  return hmac_sha256(key_.reveal(), secret);
}

bool SecretHasher::matches(const SecretHash& stored, std::string_view presented) const {
  return equal_constant_time(as_text(stored), as_text(hash(presented)));
}

const SecretHash& no_secret_hash() {
  static const SecretHash zeros{};
  return zeros;
}

}  // namespace coffer::auth
