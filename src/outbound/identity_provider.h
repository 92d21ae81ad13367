// An OpenID provider with which operators sign in: its endpoints (OpenID Connect Discovery), and
// the exchange of a code for an ID token. This class does not verify the token.
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
#include "outbound/wire/resolver.h"
#include "outbound/wire/slots.h"

namespace coffer::outbound {

struct ProviderEndpoints {
  std::string authorization;
  std::string token;
  std::string keys;
  bool takes_secret_in_body = false;  // and not by HTTP Basic
};

/// The parameters of the token request (RFC 6749 section 4.1.3, RFC 7636 section 4.5).
struct CodeExchange {
  std::string client_id;
  Secret client_secret;  // empty: a public client
  std::string code;
  std::string redirect_uri;
  Secret verifier;
};

/// Thread-safe. At most kCallsMax calls wait for the provider at a time, so that an outage does not
/// occupy shared resources; further calls are `overloaded`. All functions return
/// `provider-unavailable`, `provider-timeout` or `provider-error` if the provider does not respond
/// correctly.
class IdentityProvider {
 public:
  static constexpr int kCallsMax = 2;
  static constexpr int kTimeoutMs = 5'000;

  /// `client` and `resolver` must outlive this object.
  IdentityProvider(std::string issuer, const Clock& clock, http::Client& client,
                   Resolver& resolver);

  /// The provider's endpoints, cached for an hour.
  Result<ProviderEndpoints> endpoints();
  /// Returns the ID token as the provider sent it. `unauthorized` if the provider rejects the code.
  Result<std::string> redeem(const ProviderEndpoints& endpoints, const CodeExchange& exchange);
  /// The signing keys that the provider publishes.
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

/// Parses a discovery document. `provider-error` if it is from another issuer, lacks an endpoint or
/// PKCE with S256, or contains an endpoint without TLS that is not on this machine.
Result<ProviderEndpoints> read_discovery(std::string_view text, const std::string& issuer);

/// The error in the setting, or an empty text. Requires https, or http with a loopback address.
std::string check_issuer(const std::string& issuer);

/// `name=value` pairs for a query or a form (application/x-www-form-urlencoded).
std::string form_encoded(const std::vector<std::pair<std::string, std::string>>& members);

}  // namespace coffer::outbound
