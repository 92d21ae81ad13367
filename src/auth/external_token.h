// Bearer tokens of an external issuer: JWT (RFC 7519) signed by a key of its JWK set (RFC 7517),
// for end users on the business routes (docs/contract.md#end-user-oauth). Verification uses only
// the key set that the caller passes and makes no calls. Thread-safe.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "auth/verifying_key.h"
#include "base/clock.h"
#include "base/result.h"

namespace coffer::auth {

/// A parsed compact JWS, not verified yet.
struct ExternalToken {
  static constexpr std::size_t kMaxBytes = 8 * 1024;

  SignatureAlgorithm algorithm = SignatureAlgorithm::rs256;
  std::optional<std::string> key_id;
  std::string signed_part;
  std::string payload;    // JSON text
  std::string signature;  // raw

  /// `unauthorized` if the text is not a compact JWS, uses another algorithm, or requires
  /// extensions (`crit`).
  static Result<ExternalToken> parse(std::string_view token);
};

/// The signing keys of an issuer.
class JwkSet {
 public:
  /// Ignores keys that cannot verify any of the three algorithms: other types and uses, RSA below
  /// 2048 bits, points off the curve. `validation-failed` if the text is not a JWK set.
  static Result<JwkSet> parse(std::string_view text);
  JwkSet(JwkSet&&) noexcept;
  JwkSet& operator=(JwkSet&&) noexcept;
  ~JwkSet();

  std::size_t size() const;
  /// Whether the set has a key that may have signed the token: by key ID, or by algorithm if the
  /// token has no key ID.
  bool has_key_for(const ExternalToken& token) const;
  /// Whether one of those keys verifies the signature.
  bool verifies(const ExternalToken& token) const;

 private:
  struct Key;
  JwkSet();
  std::vector<const Key*> keys_for(const ExternalToken& token) const;
  std::vector<Key> keys_;
};

/// The required issuer and audience of a token.
struct ExternalIssuer {
  std::string issuer;
  std::string audience;
};

struct ExternalClaims {
  std::string client_id;  // `azp`, otherwise `client_id`: identifies the application
  Timestamp expires_at;   // including the permitted clock skew
};

/// Permitted difference between the issuer's clock and ours.
inline constexpr std::int64_t kExternalSkewMs = 60'000;

/// Checks the signature, then `iss`, `aud`, `exp`, `nbf` and `iat`. `unauthorized` or
/// `token-expired`.
Result<ExternalClaims> verify_external(const ExternalToken& token, const JwkSet& keys,
                                       const ExternalIssuer& expected, Timestamp now);

/// The person that an ID token identifies.
struct IdClaims {
  std::string subject;
  std::string email;  // not verified; empty if the token has none
};
/// ID Token Validation of OpenID Connect Core: checks the signature, `iss`, `aud` and `azp`, `exp`,
/// `iat`, `nonce` and `sub`. The audience is the client ID. `auth_time` must show that the person
/// authenticated since `began`, so that an existing session at the issuer is not enough.
/// `unauthorized` or `token-expired`.
Result<IdClaims> verify_id_token(const ExternalToken& token, const JwkSet& keys,
                                 const ExternalIssuer& expected, std::string_view nonce,
                                 Timestamp began, Timestamp now);

}  // namespace coffer::auth
