// Bearer tokens: JWT (RFC 7519) in compact form, HS256, issued and read only by this server.
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

/// `access` comes from the token call, `id` from the challenge login, `user` from the OTP login.
/// verify() accepts all: the route decides which it takes.
enum class TokenKind { access, id, user };

std::string_view name(TokenKind kind);

/// A `user` token is not about an application: it has a user as its `sub` and no environment, which
/// the application decides that sends it.
struct TokenClaims {
  ApplicationId application;                 // `sub`
  std::optional<UserId> user = {};           // `sub` of a user token, and only there
  std::optional<AssociationId> association;  // empty: protected routes return `no-association`
  Environment environment = Environment::sandbox;
  ScopeSet scopes;
  /// Compared with the stored version of the application or user: rotation, reset or suspension
  /// raises that, which ends every token issued before.
  std::int64_t key_version = 0;
  Timestamp issued_at;
  Timestamp expires_at;
  TokenKind kind = TokenKind::access;
  bool operator==(const TokenClaims&) const = default;
};

/// Immutable after construction; safe from any thread.
class TokenIssuer {
 public:
  static constexpr std::size_t kMaxTokenBytes = 4096;

  /// `key` is 32 raw bytes, as MasterKey::derive gives them.
  explicit TokenIssuer(Secret key);

  std::string issue(const TokenClaims& claims) const;

  /// False if the header alone shows that another issuer created it.
  static bool could_be_ours(std::string_view token);
  /// The signature is checked, in constant time, before a byte of the payload is read.
  /// `unauthorized` for anything not issued under this key; `token-expired` from `expires_at` on.
  /// Does not look at the database: the caller compares `key_version`.
  Result<TokenClaims> verify(std::string_view token, Timestamp now) const;

 private:
  std::string signature(std::string_view signed_part) const;
  Secret key_;
};

}  // namespace coffer::auth
