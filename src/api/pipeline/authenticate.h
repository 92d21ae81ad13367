// From headers to a Caller (docs/contract.md#authentication), with a cache that a committed change
// of tenancy empties at once.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>

#include "api/pipeline/route.h"
#include "base/digest.h"
#include "base/limits/lane.h"
#include "base/mutex.h"
#include "domain/identity/tenant.h"
#include "flows/context.h"
#include "http/message.h"
#include "store/identity/tenants.h"

namespace coffer::api {

class Authenticator {
 public:
  explicit Authenticator(const flows::Context& context) : context_(context) {}

  /// For a guarded route. `unauthorized` (missing, unknown or mismatched credentials),
  /// `token-expired`, `no-association`, or, of an external issuer's token, also
  /// `token-verification-timeout`. Both headers have to belong together.
  Result<Caller> authenticate(const http::Request& request, Access access) const;
  /// Whose share of a lane the request draws on, without a look into the file: the application of
  /// its x-svc-auth where these credentials were accepted lately, else the network of its address.
  /// So an invented x-svc-auth is no share of its own, and takes nothing of an application's.
  LaneCaller lane_caller(const http::Request& request) const;

 private:
  struct Entry {
    Caller caller;
    Timestamp expires_at;
  };
  /// What a bearer token says, whoever issued it.
  struct Bearer {
    auth::TokenClaims claims;  // of a token of ours
    std::string client_id;     // of an external one; else empty
    Timestamp expires_at;
  };
  Result<Entry> look_up(std::string_view secret, std::string_view token, Access access) const;
  Result<Bearer> read_bearer(std::string_view token, Access access) const;
  Result<void> check_bearer(const Bearer& bearer, const store::ApplicationRow& application) const;
  Result<void> check_user(const auth::TokenClaims& claims,
                          const store::ApplicationRow& application) const;

  void forget() const COFFER_REQUIRES(mutex_);

  static constexpr std::size_t kEntriesMax = 10'000;
  const flows::Context& context_;
  mutable Mutex mutex_;
  mutable std::unordered_map<std::string, Entry> entries_ COFFER_GUARDED_BY(mutex_);
  /// Digests of the x-svc-auth of the entries; forgotten with them.
  mutable std::unordered_set<std::uint64_t> accepted_ COFFER_GUARDED_BY(mutex_);
  mutable std::uint64_t generation_ COFFER_GUARDED_BY(mutex_) = 0;
};

/// The credentials of `Authorization: Bearer x`; the scheme in any case. Empty when there are none.
std::string_view bearer_token(const http::Request& request);

}  // namespace coffer::api
