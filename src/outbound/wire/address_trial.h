// One request to a host, through its first reachable address, within one deadline.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "http/client.h"
#include "outbound/wire/resolver.h"
#include "outbound/wire/url.h"

namespace coffer::outbound {

/// Deadlines of network calls use real time, independent of the clock of the records.
class Deadline {
 public:
  explicit Deadline(int timeout_ms);
  int left_ms() const;  // 0 or less after the deadline

 private:
  std::int64_t at_ms_;
};

/// The target, without addresses, headers and body.
http::ClientRequest request_to(const Url& url);

using Send = std::function<Result<http::ClientResponse>(const http::ClientRequest&)>;
/// Sends at most one request: the next address is tried only after `provider-unavailable`, which
/// means that `send` did not connect. Each address gets a share of the remaining time to connect,
/// at most `request.connect_timeout_ms`. `provider-unavailable` without an address;
/// `provider-timeout` if the time is over before the next address is tried. If no address works,
/// returns the last error that says more than `kNotConnected`, such as a rejected certificate;
/// often a server listens at only one of the addresses of `localhost`.
Result<http::ClientResponse> send_to_any(http::ClientRequest request,
                                         const std::vector<std::string>& addresses,
                                         const Deadline& deadline, const Send& send);
/// The same with the addresses of the request's host, all within `timeout_ms`.
Result<http::ClientResponse> send_to_host(http::ClientRequest request, http::Client& client,
                                          Resolver& resolver, int timeout_ms);

}  // namespace coffer::outbound
