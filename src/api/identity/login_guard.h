// Limits wrong secrets on the login routes of applications (docs/contract.md#guessing).
#pragma once

#include <string_view>
#include <utility>

#include "api/pipeline/route.h"
#include "api/pipeline/services.h"
#include "flows/identity/sign_in_guard.h"

namespace coffer::api {

/// `what` identifies a client, key or account. It is truncated, because an unauthenticated caller
/// chose it.
flows::SecretKeys login_keys(const Services& services, const Call& call, std::string_view what);

/// The response to a wrong secret: `problem`, or a rejection after too many of them. Always
/// `problem` if `rate_limit_login_per_min` is 0.
Problem reject_login(const Services& services, const flows::SecretKeys& keys, Problem problem);

/// Whether `problem` means a wrong secret, as opposed to a rate limit or a busy server.
bool is_wrong_secret(const Problem& problem);

/// Runs `attempt`, which verifies a secret. Only a wrong secret counts against the source. A
/// correct one resets the source's count for this name.
template <class Attempt>
auto guard_login(const Services& services, const flows::SecretKeys& keys, Attempt attempt)
    -> decltype(attempt()) {
  auto result = attempt();
  if (result) {
    services.guesses.succeeded(keys.named);
  } else if (is_wrong_secret(result.error())) {
    return unexpected(reject_login(services, keys, std::move(result).error()));
  }
  return result;
}

}  // namespace coffer::api
