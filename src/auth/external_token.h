// Bearer tokens of an external issuer: JWT (RFC 7519) signed by a key of its JWK set (RFC 7517),
// for end users on the business routes (docs/contract.md#end-user-oauth). Verified in memory only,
// with the set that the caller brings. Safe from any thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "auth/verifying_key.h"
#include "base/clock.h"
#include "base/result.h"

namespace coffer::auth {

/// A compact JWS taken apart; nothing of it is proven yet.
struct ExternalToken {
  static constexpr std::size_t kMaxBytes = 8 * 1024;

  SignatureAlgorithm algorithm = SignatureAlgorithm::rs256;
  std::optional<std::string> key_id;
  std::string signed_part;
  std::string payload;    // JSON text
  std::string signature;  // raw

  /// `unauthorized` for what is no compact JWS, has another algorithm, or names extensions
  /// (`crit`).
  static Result<ExternalToken> parse(std::string_view token);
};

/// The signing keys of an issuer.
class JwkSet {
 public:
  /// Keys that cannot verify any of the three algorithms are left out: other types and uses, RSA
  /// below 2048 bits, points off the curve. `validation-failed` when the text is no JWK set.
  static Result<JwkSet> parse(std::string_view text);
  JwkSet(JwkSet&&) noexcept;
  JwkSet& operator=(JwkSet&&) noexcept;
  ~JwkSet();

  std::size_t size() const;
  /// Whether a key could have signed it: by key id, or by algorithm when the token names none.
  bool has_key_for(const ExternalToken& token) const;
  /// Whether one of those keys did.
  bool verifies(const ExternalToken& token) const;

 private:
  struct Key;
  JwkSet();
  std::vector<const Key*> keys_for(const ExternalToken& token) const;
  std::vector<Key> keys_;
};

/// Who may have issued a token, and for whom.
struct ExternalIssuer {
  std::string issuer;
  std::string audience;
};

struct ExternalClaims {
  std::string client_id;  // `azp`, else `client_id`: names the application
  Timestamp expires_at;   // with the permitted skew
};

/// How far the issuer's clock may be off.
inline constexpr std::int64_t kExternalSkewMs = 60'000;

/// Signature, then `iss`, `aud`, `exp`, `nbf` and `iat`. `unauthorized`, or `token-expired`.
Result<ExternalClaims> verify_external(const ExternalToken& token, const JwkSet& keys,
                                       const ExternalIssuer& expected, Timestamp now);

/// Who an ID token is about.
struct IdClaims {
  std::string subject;
  std::string email;  // empty: not told; not proof of anything
};
/// ID Token Validation of OpenID Connect Core: the signature, `iss`, `aud` and `azp`, `exp`, `iat`,
/// `nonce` and `sub`. The audience is the client ID. `unauthorized`, or `token-expired`.
Result<IdClaims> verify_id_token(const ExternalToken& token, const JwkSet& keys,
                                 const ExternalIssuer& expected, std::string_view nonce,
                                 Timestamp now);

}  // namespace coffer::auth
