// One signed call to a provider: its address, its breaker, and the check of its response.
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
#include "outbound/wire/resolver.h"

namespace coffer::outbound {

struct ProviderCall {
  std::string method = "GET";
  std::string path;  // below the base URL, such as "/payouts"
  std::string body;
  bool request_waits = false;  // a client's request waits for this call
};

/// A valid response: 2xx with JSON, or 4xx.
struct ProviderReply {
  int status = 0;
  http::JsonValue body;  // null for a 4xx without valid JSON
  std::string code;      // `code` of a 4xx that follows the protocol; otherwise empty
  std::string message;   // of the same response

  bool accepted() const { return status < 300; }
  bool rejected_with(int expected, std::string_view expected_code) const {
    return status == expected && code == expected_code;
  }
};

class ProviderHttp {
 public:
  static constexpr std::size_t kResponseBytesMax = 256 * 1024;
  /// A call for a waiting request counts as a failure if it takes longer, regardless of its result.
  static constexpr std::int64_t kLateMs = 3'000;

  /// All references must outlive this object. Thread-safe.
  ProviderHttp(const Clock& clock, Resolver& resolver, http::Client& client, Random& random,
               Breakers& breakers)
      : clock_(clock), resolver_(resolver), client_(client), random_(random), breakers_(breakers) {}

  /// Sends at most one request, to the first reachable address of the host, within the endpoint's
  /// timeout. `provider-unavailable`: no connection, nothing was sent. `provider-timeout`.
  /// `provider-error`: a 5xx, a redirect, or a response that is not JSON. All three count as
  /// failures for the breaker; a 4xx in time does not. Details contain neither address nor secret;
  /// the log contains the reason.
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

/// `provider-error` with a text for clients. `why` is a constant and is logged.
Unexpected provider_error(const ConnectorTerms& terms, std::string_view call, std::string_view why,
                          const ProviderReply& reply);

}  // namespace coffer::outbound
