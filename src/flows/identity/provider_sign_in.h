// Sign-in of operators with an existing OpenID provider: authorization code with PKCE, state and
// nonce. The provider must authenticate the person again each time, because a sign-in here is also
// the confirmation that commands with money or access ask for. An operator signs in only with an
// account that an administrator linked to them by its subject; nothing is created automatically.
// The provider is responsible for second factors.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "base/mutex.h"
#include "flows/context.h"
#include "flows/identity/external_tokens.h"
#include "flows/identity/operator_sessions.h"
#include "flows/identity/sign_in_guard.h"
#include "outbound/identity_provider.h"
#include "store/identity/operators.h"

namespace coffer::flows {

struct ProviderSettings {
  std::string issuer;
  std::string client_id;
  Secret client_secret;
};

/// The browser that signs in, and the address to which the provider sends it back.
struct ProviderVisit {
  SignInChallenges& challenges;
  std::string browser;  // secret of the sign-in attempt
  std::string redirect_uri;
};

/// The parameters with which the provider sent the browser back.
struct ProviderReturn {
  std::string code;
  std::string state;
  std::string issuer = {};  // empty: not sent (RFC 9207)
};

/// Thread-safe.
class ProviderSignIn {
 public:
  /// `clock`, `client` and `resolver` must outlive this object.
  ProviderSignIn(ProviderSettings settings, const Clock& clock, http::Client& client,
                 outbound::Resolver& resolver)
      : settings_(std::move(settings)),
        clock_(clock),
        provider_(settings_.issuer, clock, client, resolver) {}

  const std::string& issuer() const { return settings_.issuer; }
  /// The URL that the browser must open. May wait for the provider, and returns its Problems
  /// (outbound/identity_provider.h).
  Result<std::string> begin(const ProviderVisit& visit);
  /// The claims about the person who returned. `unauthorized` contains the reason, for the audit
  /// log. May wait for the provider.
  Result<auth::IdClaims> finish(const ProviderVisit& visit, const ProviderReturn& returned);

 private:
  ExternalTokens& tokens_of(const outbound::ProviderEndpoints& endpoints);

  const ProviderSettings settings_;
  const Clock& clock_;
  outbound::IdentityProvider provider_;
  Mutex mutex_;
  // By the URL of the keys, which a provider rarely changes.
  std::map<std::string, std::unique_ptr<ExternalTokens>> tokens_ COFFER_GUARDED_BY(mutex_);
};

/// Signs the linked operator in. `unauthorized`; `rate-limited` after too many failed attempts of a
/// source; the Problems of the provider.
Result<store::OperatorRow> sign_in_with_provider(const Context& context, ProviderSignIn& provider,
                                                 const ProviderVisit& visit,
                                                 const ProviderReturn& returned,
                                                 const SignInSource& source);

/// Links an operator to a subject of the provider, or removes the link. Ends the sessions.
/// `not-found`; `conflict` if the subject is linked to another operator; `validation-failed`.
Result<store::OperatorRow> link_operator(const Context& context, const std::string& name,
                                         const std::string& issuer, const std::string& subject);
Result<store::OperatorRow> unlink_operator(const Context& context, const std::string& name);

}  // namespace coffer::flows
