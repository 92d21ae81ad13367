// Logins beyond the client credentials: signed challenge, sign-in, refresh, and users with a
// one-time code (docs/contract.md#challenge-login).
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "auth/challenge.h"
#include "base/strong.h"
#include "flows/context.h"
#include "flows/identity/external_tokens.h"
#include "flows/identity/sign_in_guard.h"
#include "store/identity/tenants.h"

namespace coffer::flows {

/// The objects and settings that logins use in addition to the context. Built by `app`; immutable.
struct Logins {
  auth::ChallengeServer challenges;
  std::string home_domain;                   // as configured; empty: the address of the listener
  std::string web_auth_domain;               // as configured; empty: the home domain
  bool tls = false;                          // of coffer's own listener
  std::function<std::string()> own_address;  // `host:port` of the listener
  std::unique_ptr<ExternalTokens> external;  // nullptr: no external issuer is configured

  /// Whether the operator has configured the domain at which clients reach this server.
  bool has_domain() const { return !home_domain.empty() || !web_auth_domain.empty(); }
  /// Includes `://`. Clients reach a configured domain over TLS, which coffer or a proxy
  /// terminates.
  std::string scheme() const { return tls || has_domain() ? "https://" : "http://"; }
};

/// The key that signs challenges. It is created at first use and stored sealed in the file.
Result<auth::SigningKey> open_challenge_key(const Context& context);

auth::ChallengeDomains challenge_domains(const Context& context);
/// Scheme and host of this server without a trailing slash: the configured domain of the challenge
/// login, otherwise the address of the listener.
std::string public_base_url(const Context& context);
/// The URL at which standard SEP-10 clients request the challenge, for stellar.toml.
std::string web_auth_endpoint(const Context& context);

/// Checks whether the application may log in from the client of this request, and applies the rate
/// limits. A Problem rejects the login before anything is stored. Every login of an application
/// takes it, because its allow-list and client certificate apply to all of them.
using AdmitClient = std::function<Result<void>(const store::ApplicationRow&)>;

/// A challenge that the application with this key must sign. Writes nothing. `not-found` if no
/// application is registered with the key.
Result<std::string> issue_challenge(const Context& context, const auth::PublicKey& account,
                                    const AdmitClient& admit);
/// `invalid-challenge` unless this server issued it and it is signed as SEP-10 requires. Writes
/// nothing.
Result<auth::SignedChallenge> verify_challenge(const Context& context,
                                               std::string_view transaction);

/// The result of an application's login.
struct Session {
  std::string id_token;
  Secret refresh_token;
  std::int64_t expires_in_s = 0;
};

/// Marks the challenge as used. `invalid-challenge` if it was already used or has expired;
/// `unauthorized` if the application is suspended or no longer exists.
Result<Session> accept_challenge(const Context& context, const auth::SignedChallenge& challenge,
                                 const AdmitClient& admit);
/// Signs in with the public key and the sign-in secret of an application. `unauthorized` does not
/// reveal the cause, except suspension, which only a caller with the right secret learns.
Result<Session> sign_in(const Context& context, const std::string& public_key,
                        const std::string& secret, const AdmitClient& admit);
/// Exchanges a refresh token for a new session. `unauthorized` if it is unknown, expired, ended by
/// rotation or suspension, or spent. A spent token also revokes every token of the same login.
Result<Session> refresh_session(const Context& context, const std::string& refresh_token,
                                const AdmitClient& admit);

struct UserSession {
  std::string access_token;  // a token of kind `user`, for the business routes
  AssociationId association;
  std::int64_t expires_in_s = 0;
};

/// Marks the code as used. `unauthorized` does not reveal the cause; `rate-limited` after too many
/// failed attempts. Deliberately slow.
Result<UserSession> log_in_user(const Context& context, const std::string& username,
                                const std::string& password, const std::string& code,
                                const SignInSource& source);

}  // namespace coffer::flows
