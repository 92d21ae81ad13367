// From headers to a Caller (decisions section 3), with a cache that a committed change of tenancy
// empties at once.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>

#include "base/digest.h"
#include "base/mutex.h"
#include "domain/tenant.h"
#include "flows/context.h"
#include "http/message.h"

namespace coffer::api {

class Authenticator {
 public:
  explicit Authenticator(const flows::Context& context) : context_(context) {}

  /// `unauthorized` (missing, unknown or mismatched credentials), `token-expired`, or
  /// `no-association`. Both headers have to belong to the same application.
  Result<Caller> authenticate(const http::Request& request) const;

 private:
  struct Entry {
    Caller caller;
    Timestamp expires_at;
  };
  Result<Entry> look_up(std::string_view api_key, std::string_view token) const;

  static constexpr std::size_t kEntriesMax = 10'000;
  const flows::Context& context_;
  mutable Mutex mutex_;
  mutable std::unordered_map<std::string, Entry> entries_ COFFER_GUARDED_BY(mutex_);
  mutable std::uint64_t generation_ COFFER_GUARDED_BY(mutex_) = 0;
};

/// The credentials of `Authorization: Bearer x`; the scheme in any case. Empty when there are none.
std::string_view bearer_token(const http::Request& request);

}  // namespace coffer::api
