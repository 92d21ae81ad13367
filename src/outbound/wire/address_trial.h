// One exchange with a host, at the first of its addresses that can be connected to, within one
// deadline.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "http/client.h"
#include "outbound/url.h"

namespace coffer::outbound {

/// Time on the wire is real time, whatever the clock of the records says.
class Deadline {
 public:
  explicit Deadline(int timeout_ms);
  int left_ms() const;  // 0 or less when it is over

 private:
  std::int64_t at_ms_;
};

/// Where to, without addresses, headers and body.
http::ClientRequest request_to(const Url& url);

using Send = std::function<Result<http::ClientResponse>(const http::ClientRequest&)>;
/// At most one request on the wire: the next address is tried only after `provider-unavailable`, by
/// which `send` says that it did not connect. An address gets its share of the time left to
/// connect, and never more than `request.connect_timeout_ms`. `provider-unavailable` without an
/// address; `provider-timeout` when the time is over before the next one is tried.
Result<http::ClientResponse> send_to_any(http::ClientRequest request,
                                         const std::vector<std::string>& addresses,
                                         const Deadline& deadline, const Send& send);

}  // namespace coffer::outbound
