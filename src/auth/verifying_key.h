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
  /// Numbers are big-endian bytes. nullopt for an unacceptable key: RSA below 2048 bits, with an
  /// invalid exponent, or with a modulus that is even, prime or has small factors; a point off the
  /// curve; an Ed25519 point of small order; a wrong length.
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

/// Whether 32 bytes are a canonical point of the curve that is not of small order. Under a point of
/// small order (RFC 8032 section 5.1.7), anyone can make signatures that verify.
bool is_sound_ed25519_key(std::string_view bytes);

/// Converts an ES256 signature from its two 32-byte numbers to DER; empty for another length.
std::string ecdsa_der(std::string_view raw);

}  // namespace coffer::auth
