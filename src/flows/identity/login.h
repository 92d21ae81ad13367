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

namespace coffer::flows {

/// What logins work with beside the context. Built by `app`; immutable.
struct Logins {
  auth::ChallengeServer challenges;
  std::string home_domain;                   // as configured; empty: where the server listens
  std::string web_auth_domain;               // as configured; empty: the home domain
  bool tls = false;                          // of the own listener
  std::function<std::string()> own_address;  // `host:port` of the listener
  std::unique_ptr<ExternalTokens> external;  // nullptr: no external issuer is configured

  /// Whether the operator has configured the domain that clients know this server by.
  bool has_domain() const { return !home_domain.empty() || !web_auth_domain.empty(); }
  /// With `://`. Clients reach a configured domain over TLS, whether coffer or a proxy ends it.
  std::string scheme() const { return tls || has_domain() ? "https://" : "http://"; }
};

/// The key that challenges are signed with, kept sealed in the file, made at first use.
Result<auth::SigningKey> open_challenge_key(const Context& context);

auth::ChallengeDomains challenge_domains(const Context& context);
/// Scheme and host of this server without a trailing slash: the configured domain of the challenge
/// login, else where the server listens.
std::string public_base_url(const Context& context);
/// Where stock clients find the challenge, for stellar.toml.
std::string web_auth_endpoint(const Context& context);

/// A challenge for the application with this key to sign. Writes nothing. `not-found` when no
/// application is registered with the key.
Result<std::string> issue_challenge(const Context& context, const auth::PublicKey& account);
/// `invalid-challenge` unless it was issued here and is signed as SEP-10 asks. Writes nothing.
Result<auth::SignedChallenge> verify_challenge(const Context& context,
                                               std::string_view transaction);

/// What a login of an application gives.
struct Session {
  std::string id_token;
  Secret refresh_token;
  std::int64_t expires_in_s = 0;
};

/// Whether a client whose secret was right may log in now; a Problem refuses it before anything is
/// stored.
using AdmitClient = std::function<Result<void>(const std::string& client)>;

/// Uses the challenge up. `invalid-challenge` when it was used or has expired meanwhile,
/// `unauthorized` when the application is suspended or gone.
Result<Session> accept_challenge(const Context& context, const auth::SignedChallenge& challenge);
/// Public key and sign-in secret of an application. `unauthorized`, the same for every cause but
/// suspension, which only who has the secret learns.
Result<Session> sign_in(const Context& context, const std::string& public_key,
                        const std::string& secret, const AdmitClient& admit);
/// Exchanges a refresh token for a new session. `unauthorized`: unknown, expired, ended by rotation
/// or suspension, or spent, which also revokes every token that came from the same login.
Result<Session> refresh_session(const Context& context, const std::string& refresh_token,
                                const AdmitClient& admit);

struct UserSession {
  std::string access_token;  // of kind `user`: for the business routes
  AssociationId association;
  std::int64_t expires_in_s = 0;
};

/// Uses the code up. `unauthorized`, the same for every cause; `rate-limited` after too many failed
/// attempts. Slow on purpose.
Result<UserSession> log_in_user(const Context& context, const std::string& username,
                                const std::string& password, const std::string& code,
                                const SignInSource& source);

}  // namespace coffer::flows
