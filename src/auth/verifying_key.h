// Public keys of others that verify signatures: of an issuer's tokens, and of passkeys.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

struct evp_pkey_st;

namespace coffer::auth {

/// The only algorithms there are: `none` and everything symmetric are not among them, so a public
/// key can never be taken for a shared secret (RFC 8725 section 3.1).
enum class SignatureAlgorithm { rs256, es256, eddsa };

/// Safe from any thread.
class VerifyingKey {
 public:
  /// Numbers are big-endian bytes. nullopt for a key that must not be used: RSA below 2048 bits or
  /// with a bad exponent, a point off the curve, a wrong length.
  static std::optional<VerifyingKey> rsa(std::string_view modulus, std::string_view exponent);
  static std::optional<VerifyingKey> p256(std::string_view x, std::string_view y);
  static std::optional<VerifyingKey> ed25519(std::string_view x);

  SignatureAlgorithm algorithm() const { return algorithm_; }
  /// A signature of ES256 is in DER.
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

/// A signature of ES256 as DER, from its two numbers of 32 bytes each; empty for another length.
std::string ecdsa_der(std::string_view raw);

}  // namespace coffer::auth
