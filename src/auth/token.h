// Bearer tokens that this server issues and verifies: JWT (RFC 7519) in compact form, signed with
// HS256.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"
#include "base/strong.h"
#include "domain/identity/tenant.h"
#include "domain/ids.h"

namespace coffer::auth {

/// `access` is issued by the token call, `id` by the challenge login, `user` by the OTP login.
/// verify() accepts all of them; the route decides which it permits.
enum class TokenKind { access, id, user };

}  // namespace coffer::auth

template <>
struct coffer::Terms<coffer::auth::TokenKind> {
  static constexpr auto rows = std::to_array<Term>({{"access"}, {"id"}, {"user"}});
};

namespace coffer::auth {

/// A `user` token does not belong to an application: its `sub` is a user, and it has no
/// environment. The environment is that of the application that sends the token.
struct TokenClaims {
  ApplicationId application;        // `sub` of an access token, `application` of an ID token
  std::optional<UserId> user = {};  // `sub` of a user token; empty for other tokens
  /// `iss` and `sub` of an ID token, as SEP-10 defines them: the URL of the challenge endpoint, and
  /// the public key G... that logged in. Other tokens have the issuer `coffer`.
  std::string issuer = "coffer";
  std::string account = {};
  std::optional<AssociationId> association;  // empty: protected routes return `no-association`
  Environment environment = Environment::sandbox;
  ScopeSet scopes;
  /// Compared with the stored version of the application or user. A rotation, reset or suspension
  /// increments the stored version, which invalidates all earlier tokens.
  std::int64_t key_version = 0;
  /// Whole seconds: RFC 7519 permits fractions, but widely used libraries reject them.
  Timestamp issued_at;
  Timestamp expires_at;
  TokenKind kind = TokenKind::access;
  /// Sets both times.
  void last(Timestamp now, std::int64_t lifetime_ms);
  bool operator==(const TokenClaims&) const = default;
};

/// Immutable after construction; thread-safe.
class TokenIssuer {
 public:
  static constexpr std::size_t kMaxTokenBytes = 4096;

  /// `key` is 32 raw bytes from MasterKey::derive.
  explicit TokenIssuer(Secret key);

  std::string issue(const TokenClaims& claims) const;

  /// False if the header shows that another issuer created the token.
  static bool could_be_ours(std::string_view token);
  /// Checks the signature, in constant time, before it reads the payload. `unauthorized` for a
  /// token not issued under this key; `token-expired` from `expires_at` on. Does not read the
  /// database: the caller compares `key_version`.
  Result<TokenClaims> verify(std::string_view token, Timestamp now) const;

 private:
  std::string signature(std::string_view signed_part) const;
  Secret key_;
};

}  // namespace coffer::auth
