// Public keys of other parties that verify signatures: keys of token issuers, and passkeys.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

struct evp_pkey_st;

namespace coffer::auth {

/// All supported algorithms. `none` and symmetric algorithms are excluded, so a public key cannot
/// be used as a shared secret (RFC 8725 section 3.1).
enum class SignatureAlgorithm { rs256, es256, eddsa };

/// Thread-safe.
class VerifyingKey {
 public:
  /// Numbers are big-endian bytes. nullopt for an unacceptable key: RSA below 2048 bits or with an
  /// invalid exponent, a point off the curve, a wrong length.
  static std::optional<VerifyingKey> rsa(std::string_view modulus, std::string_view exponent);
  static std::optional<VerifyingKey> p256(std::string_view x, std::string_view y);
  static std::optional<VerifyingKey> ed25519(std::string_view x);

  SignatureAlgorithm algorithm() const { return algorithm_; }
  /// An ES256 signature must be in DER.
  bool verifies(std::string_view message, std::string_view signature) const;

 private:
  struct Free {
    void operator()(evp_pkey_st* key) const;
  };
  using Handle = std::unique_ptr<evp_pkey_st, Free>;
  VerifyingKey(SignatureAlgorithm algorithm, Handle handle)
      : algorithm_(algorithm), handle_(std::move(handle)) {}
  static Handle from_parameters(const char* type, void* builder);

  SignatureAlgorithm algorithm_;
  Handle handle_;
};

/// Converts an ES256 signature from its two 32-byte numbers to DER; empty for another length.
std::string ecdsa_der(std::string_view raw);

}  // namespace coffer::auth
