// One signed call to a provider: where to, through which breaker, and what may come back.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/random.h"
#include "domain/providers/connector.h"
#include "http/client.h"
#include "http/json_body.h"
#include "outbound/providers/breaker.h"
#include "outbound/resolver.h"

namespace coffer::outbound {

struct ProviderCall {
  std::string method = "GET";
  std::string path;  // below the base URL: "/payouts"
  std::string body;
  bool request_waits = false;  // a client's request is answered after this call
};

/// An answer that can be read: 2xx with JSON, or 4xx.
struct ProviderReply {
  int status = 0;
  http::JsonValue body;  // null when a 4xx brought none that can be read
  std::string code;      // of a 4xx that follows the protocol: its `code`; else empty
  std::string message;   // of the same

  bool accepted() const { return status < 300; }
  bool refused_with(int expected, std::string_view expected_code) const {
    return status == expected && code == expected_code;
  }
};

class ProviderHttp {
 public:
  static constexpr std::size_t kResponseBytesMax = 256 * 1024;
  /// A call that a request waits for counts as a fault when it takes longer, whatever came of it.
  static constexpr std::int64_t kLateMs = 3'000;

  /// Everything referred to outlives this. Thread safe.
  ProviderHttp(const Clock& clock, Resolver& resolver, http::Client& client, Random& random,
               Breakers& breakers)
      : clock_(clock), resolver_(resolver), client_(client), random_(random), breakers_(breakers) {}

  /// At most one request on the wire, to the first address of the host that can be connected to,
  /// within the endpoint's timeout. `provider-unavailable`: no connection, nothing was sent.
  /// `provider-timeout`; `provider-error`: a 5xx, a redirect, or something that is no JSON. All
  /// three count for the breaker; a 4xx that is not late does not. Details name neither address nor
  /// secret; the log has the reason.
  Result<ProviderReply> call(const ConnectorTerms& terms, const ProviderCall& call);

 private:
  Result<http::ClientResponse> send(const ProviderEndpoint& endpoint, const ProviderCall& call,
                                    const std::string& request_id);

  const Clock& clock_;
  Resolver& resolver_;
  http::Client& client_;
  Random& random_;
  Breakers& breakers_;
};

/// `provider-error` in the words that clients see; `why`, constant words, goes to the log.
Unexpected provider_error(const ConnectorTerms& terms, std::string_view call, std::string_view why,
                          const ProviderReply& reply);

}  // namespace coffer::outbound
