#include "outbound/wire/address_trial.h"

#include <algorithm>

#include "base/clock.h"

namespace coffer::outbound {
namespace {

/// Whether the later error of an address replaces the earlier one of another address.
bool says_more(const Problem& later, const Problem& earlier) {
  return later.detail != http::kNotConnected || earlier.detail == http::kNotConnected;
}

}  // namespace

Deadline::Deadline(int timeout_ms) : at_ms_(SystemClock().monotonic_ms() + timeout_ms) {}

int Deadline::left_ms() const { return static_cast<int>(at_ms_ - SystemClock().monotonic_ms()); }

http::ClientRequest request_to(const Url& url) {
  http::ClientRequest request;
  request.tls = url.tls;
  request.host = url.host;
  request.port = url.port;
  request.target = url.target();
  return request;
}

Result<http::ClientResponse> send_to_any(http::ClientRequest request,
                                         const std::vector<std::string>& addresses,
                                         const Deadline& deadline, const Send& send) {
  const int connect_max_ms = request.connect_timeout_ms;
  Result<http::ClientResponse> response =
      unexpected(Slug::provider_unavailable, "The name has no address.");
  int untried = static_cast<int>(addresses.size());
  for (const std::string& address : addresses) {
    const int left_ms = deadline.left_ms();
    if (left_ms <= 0) return unexpected(Slug::provider_timeout, "The request timed out.");
    request.address = address;
    request.total_timeout_ms = left_ms;
    request.connect_timeout_ms = std::min(connect_max_ms, std::max(1, left_ms / untried--));
    auto attempt = send(request);
    if (attempt || attempt.error().slug != Slug::provider_unavailable) return attempt;
    const bool is_first = &address == &addresses.front();
    if (is_first || says_more(attempt.error(), response.error())) response = std::move(attempt);
  }
  return response;
}

Result<http::ClientResponse> send_to_host(http::ClientRequest request, http::Client& client,
                                          Resolver& resolver, int timeout_ms) {
  const Deadline deadline(timeout_ms);
  COFFER_TRY(const auto addresses, resolver.resolve(request.host, timeout_ms));
  return send_to_any(std::move(request), addresses, deadline,
                     [&](const http::ClientRequest& attempt) { return client.send(attempt); });
}

}  // namespace coffer::outbound
