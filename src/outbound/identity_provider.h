// An OpenID provider that operators sign in with: its endpoints (OpenID Connect Discovery), and the
// exchange of a code for an ID token. This class does not verify the token.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"
#include "base/result.h"
#include "base/strong.h"
#include "http/client.h"
#include "outbound/key_set.h"
#include "outbound/resolver.h"
#include "outbound/wire/slots.h"

namespace coffer::outbound {

struct ProviderEndpoints {
  std::string authorization;
  std::string token;
  std::string keys;
  bool takes_secret_in_body = false;  // and not by HTTP Basic
};

/// What the token endpoint gets (RFC 6749 section 4.1.3, RFC 7636 section 4.5).
struct CodeExchange {
  std::string client_id;
  Secret client_secret;  // empty: a public client
  std::string code;
  std::string redirect_uri;
  Secret verifier;
};

/// Thread-safe. At most kCallsMax calls wait for the provider at a time, so an outage occupies
/// nothing that others need; further ones are `overloaded`. All functions: `provider-unavailable`,
/// `provider-timeout` or `provider-error` when the provider does not do what it should.
class IdentityProvider {
 public:
  static constexpr int kCallsMax = 2;
  static constexpr int kTimeoutMs = 5'000;

  /// `client` and `resolver` must outlive this object.
  IdentityProvider(std::string issuer, const Clock& clock, http::Client& client,
                   Resolver& resolver);

  /// Fetched again after an hour.
  Result<ProviderEndpoints> endpoints();
  /// The ID token as the provider sent it. `unauthorized` when it refuses the code.
  Result<std::string> redeem(const ProviderEndpoints& endpoints, const CodeExchange& exchange);
  /// The keys at an endpoint.
  std::unique_ptr<KeySet> key_set(const ProviderEndpoints& endpoints) const;

 private:
  Result<http::ClientResponse> call(const std::string& url, std::string method, std::string body,
                                    std::vector<std::pair<std::string, std::string>> headers);

  const std::string issuer_;
  const Clock& clock_;
  http::Client& client_;
  Resolver& resolver_;
  Slots calls_{kCallsMax};
  Mutex mutex_;
  std::optional<ProviderEndpoints> known_ COFFER_GUARDED_BY(mutex_);
  std::int64_t known_ms_ COFFER_GUARDED_BY(mutex_) = 0;
};

/// The content of a discovery document. `provider-error` when it is of another issuer, lacks an
/// endpoint or PKCE with S256, or has an endpoint without TLS that is not on this machine.
Result<ProviderEndpoints> read_discovery(std::string_view text, const std::string& issuer);

/// The error in the setting, or an empty text: https, or http for a loopback address.
std::string check_issuer(const std::string& issuer);

/// `name=value` pairs for a query or a form (application/x-www-form-urlencoded).
std::string form_encoded(const std::vector<std::pair<std::string, std::string>>& members);

}  // namespace coffer::outbound
