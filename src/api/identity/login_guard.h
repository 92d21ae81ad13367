// Wrong secrets of machines on the login routes (docs/contract.md#guessing).
#pragma once

#include <string_view>
#include <utility>

#include "api/pipeline/route.h"
#include "api/pipeline/services.h"
#include "flows/identity/sign_in_guard.h"

namespace coffer::api {

/// `what` names a client, key or account; it is cut, because it is text of a stranger.
flows::SecretKeys login_keys(const Services& services, const Call& call, std::string_view what);

/// The response to a wrong secret; as `problem` while `rate_limit_login_per_min` is 0.
Problem refuse_login(const Services& services, const flows::SecretKeys& keys, Problem problem);

/// Whether `problem` says that a secret was wrong, and not that this caller is too fast or the
/// server is busy.
bool is_wrong_secret(const Problem& problem);

/// Runs `attempt`, which verifies a secret. Only if it was wrong, the source may have to wait; the
/// right one makes the source's mistakes with this name forgotten.
template <class Attempt>
auto guard_login(const Services& services, const flows::SecretKeys& keys, Attempt attempt)
    -> decltype(attempt()) {
  auto result = attempt();
  if (result) {
    services.guesses.succeeded(keys.named);
  } else if (is_wrong_secret(result.error())) {
    return unexpected(refuse_login(services, keys, std::move(result).error()));
  }
  return result;
}

}  // namespace coffer::api
