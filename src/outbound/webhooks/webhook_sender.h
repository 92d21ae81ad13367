// One attempt to deliver: judged, pinned, signed, sent, and nothing followed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/strong.h"
#include "domain/identity/tenant.h"
#include "http/client.h"
#include "outbound/target_guard.h"
#include "outbound/wire/slots.h"

namespace coffer::outbound {

struct WebhookMessage {
  std::string id;  // X-Webhook-Id
  std::string url;
  Environment environment = Environment::sandbox;
  std::string body;             // JSON
  std::vector<Secret> secrets;  // all of them sign
};

/// Exactly one of status and fault says how it ended.
struct WebhookResponse {
  int status = 0;        // 0: no usable answer
  std::string fault;     // why not, for the delivery log
  std::string response;  // at most kResponseBytesMax of the body
  std::optional<std::int64_t> retry_after_ms;
  std::int64_t duration_ms = 0;
  bool sent = false;  // the endpoint may have seen the POST

  static constexpr std::size_t kResponseBytesMax = 4'096;
};

class WebhookSender {
 public:
  /// `clock` dates the deliveries; waiting is by the machine's. `resolver` and `clock` outlive
  /// this.
  WebhookSender(const Clock& clock, Resolver& resolver, AllowedTargets allowed,
                std::string ca_bundle, int timeout_ms);

  static constexpr int kLookupsMax = 4;

  /// What can be told when an endpoint is registered: the URL, and where its name leads now. A name
  /// that leads nowhere yet, or that cannot be looked up within a second, is accepted, because
  /// every attempt judges anew. At most kLookupsMax calls look up a name at once; the others do not
  /// wait.
  Result<void> check_target(std::string_view url, Environment environment);

  /// Thread safe. Never fails: a failure is an answer.
  WebhookResponse send(const WebhookMessage& message);

  /// Ends attempts in progress and all later ones without a response. For stopping.
  void cut() { client_.cut(); }

  const http::Client& client() const { return client_; }

 private:
  Result<http::ClientResponse> exchange(const WebhookMessage& message, bool& sent);

  const Clock& clock_;
  const TargetGuard guard_;
  http::Client client_;
  Slots lookups_{kLookupsMax};
  const int timeout_ms_;
};

/// `Retry-After` in either form; nullopt for anything else.
std::optional<std::int64_t> parse_retry_after(std::string_view text, Timestamp now);

}  // namespace coffer::outbound
