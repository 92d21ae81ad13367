#include "api/identity/login_guard.h"

#include <string>

namespace coffer::api {
namespace {

constexpr std::size_t kNamedBytesMax = 64;

}  // namespace

flows::SecretKeys login_keys(const Services& services, const Call& call, std::string_view what) {
  const std::string source =
      "machine\n" + http::network_of(services.proxies.client_address(call.request));
  return {source, source + '\n' + std::string(what.substr(0, kNamedBytesMax)),
          services.limiter.login_per_min()};
}

Problem reject_login(const Services& services, const flows::SecretKeys& keys, Problem problem) {
  if (services.limiter.login_per_min() == 0) return problem;
  return flows::reject_wrong_secret(services.flows, keys, std::move(problem));
}

bool is_wrong_secret(const Problem& problem) {
  return problem.status() >= 400 && problem.status() < 500 && problem.slug != Slug::rate_limited;
}

}  // namespace coffer::api
