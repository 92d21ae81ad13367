// Determines the Caller from the headers (docs/contract.md#authentication). A cache holds the
// results until the next committed change of associations or applications.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "api/pipeline/route.h"
#include "base/digest.h"
#include "base/limits/lane.h"
#include "base/mutex.h"
#include "domain/identity/tenant.h"
#include "flows/context.h"
#include "http/client_address.h"
#include "http/message.h"
#include "store/identity/tenants.h"

namespace coffer::api {

/// The clients from which an application's secrets are accepted.
struct Origins {
  AddressList networks;                        // empty: any address
  std::vector<std::string> certificates = {};  // fingerprints; empty: no certificate is needed
};

class Authenticator {
 public:
  /// Both arguments must outlive this object.
  Authenticator(const flows::Context& context, const http::TrustedProxies& proxies)
      : context_(context), proxies_(proxies) {}

  /// For guarded routes. `unauthorized` (missing, unknown or mismatched credentials),
  /// `token-expired`, `no-association`, and for a token of an external issuer also
  /// `token-verification-timeout`. Both headers must belong to the same application.
  Result<Caller> authenticate(const http::Request& request, Access access) const;
  /// The last use of each API key and connect secret since the previous call. A worker stores them
  /// periodically, so that no request waits for it.
  std::vector<store::SecretUse> take_uses();
  /// The caller whose lane share a request uses, determined without reading the file: the
  /// application of its x-svc-auth if that was accepted recently, otherwise the network of its
  /// address. So an invented x-svc-auth neither gets a separate share nor uses an application's
  /// share.
  LaneCaller lane_caller(const http::Request& request) const;

 private:
  struct Entry {
    Caller caller;
    Timestamp expires_at;
    Origins origins = {};
    Sha256 secret{};  // hash of the x-svc-auth
  };
  /// The contents of a bearer token from any issuer.
  struct Bearer {
    auth::TokenClaims claims;  // of a coffer token
    std::string client_id;     // of an external token, otherwise empty
    Timestamp expires_at;
  };
  Result<Entry> look_up(std::string_view secret, std::string_view token, Access access) const;
  Result<Bearer> read_bearer(std::string_view token, Access access) const;
  Result<void> check_bearer(const Bearer& bearer, const store::ApplicationRow& application) const;
  Result<void> check_user(const auth::TokenClaims& claims,
                          const store::ApplicationRow& application) const;

  void forget() const COFFER_REQUIRES(mutex_);
  /// Checks the client of a request with these credentials, and records the use.
  Result<void> admit_use(const Entry& entry, const http::Request& request) const
      COFFER_REQUIRES(mutex_);

  static constexpr std::size_t kEntriesMax = 10'000;
  const flows::Context& context_;
  const http::TrustedProxies& proxies_;
  mutable Mutex mutex_;
  mutable std::unordered_map<std::string, Entry> entries_ COFFER_GUARDED_BY(mutex_);
  /// Digests of the x-svc-auth of the cached entries; removed with them.
  mutable std::unordered_set<std::uint64_t> accepted_ COFFER_GUARDED_BY(mutex_);
  mutable std::map<Sha256, store::SecretUse> uses_ COFFER_GUARDED_BY(mutex_);
  mutable std::uint64_t generation_ COFFER_GUARDED_BY(mutex_) = 0;
};

/// The credentials in `Authorization: Bearer x`, with the scheme in any case; empty if there are
/// none.
std::string_view bearer_token(const http::Request& request);

/// `unauthorized` if the application's secrets are not accepted from the client of this request.
Result<void> check_client(const store::ApplicationRow& application, const http::Request& request,
                          const http::TrustedProxies& proxies);

}  // namespace coffer::api
