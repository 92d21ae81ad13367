// One delivery attempt: checks the target, pins the address, signs, and sends without following
// redirects.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/strong.h"
#include "domain/identity/tenant.h"
#include "http/client.h"
#include "outbound/wire/target_guard.h"

namespace coffer::outbound {

struct WebhookMessage {
  std::string id;  // X-Webhook-Id
  std::string url;
  Environment environment = Environment::sandbox;
  std::string body;             // JSON
  std::vector<Secret> secrets;  // each adds a signature
};

/// Either `status` or `fault` contains the result.
struct WebhookResponse {
  int status = 0;        // 0: no valid response
  std::string fault;     // the reason for a missing response, for the operator's delivery log
  std::string response;  // at most kResponseBytesMax of the body
  std::optional<std::int64_t> retry_after_ms;
  std::int64_t duration_ms = 0;
  bool sent = false;                  // the endpoint may have received the POST
  Timestamp signed_at;                // X-Webhook-Ts
  std::string signatures = {};        // webhook-signature
  std::string response_headers = {};  // in the form of header_lines()

  static constexpr std::size_t kResponseBytesMax = 4'096;
  static constexpr std::size_t kHeaderBytesMax = 2'048;
};

class WebhookSender {
 public:
  /// `clock` sets the times of deliveries; timeouts use the machine's clock. `resolver` and `clock`
  /// must outlive this object.
  WebhookSender(const Clock& clock, Resolver& resolver, AllowedTargets allowed,
                std::string ca_bundle, int timeout_ms);

  /// The check at registration, which covers only the text of the URL. It does not resolve the
  /// name, because the result or its duration would reveal to a tenant which internal names exist.
  /// Every attempt checks the addresses.
  Result<void> check_target(std::string_view url, Environment environment) const;

  /// Thread-safe. Never returns a Problem: a failed attempt is reported in the response.
  WebhookResponse send(const WebhookMessage& message);

  /// Ends all present and future attempts without a response, for shutdown: at once, or after a
  /// time.
  void cut() { client_.cut(); }
  void cut_after(int ms) { client_.cut_after(ms); }

  const http::Client& client() const { return client_; }

 private:
  Result<http::ClientResponse> exchange(const WebhookMessage& message, WebhookResponse& out);

  const Clock& clock_;
  const TargetGuard guard_;
  http::Client client_;
  const int timeout_ms_;
};

/// The headers of a response as lines, for the delivery log: without the values of cookies and
/// credentials, and at most kHeaderBytesMax long. The last line states how many lines were omitted.
std::string header_lines(const std::vector<std::pair<std::string, std::string>>& headers);

/// `Retry-After` as seconds or as a date in any form of RFC 9110 section 5.6.7, in milliseconds
/// from `now` and at most a day; nullopt for anything else.
std::optional<std::int64_t> parse_retry_after(std::string_view text, Timestamp now);

}  // namespace coffer::outbound
