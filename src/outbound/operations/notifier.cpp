#include "outbound/operations/notifier.h"

#include <nlohmann/json.hpp>

#include "outbound/wire/address_trial.h"

namespace coffer::outbound {
namespace {

Unexpected failed(std::string detail) {
  return unexpected(Slug::provider_unavailable, std::move(detail));
}

std::string gateway_body(const Notification& notification) {
  const std::string payment = notification.payment.to_string();
  const nlohmann::json body = {{"to", notification.recipient},
                               {"text", notification.text},
                               {"paymentId", payment},
                               {"idempotencyKey", "notification-" + payment}};
  return body.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace

bool ConfiguredNotifier::serves(NotificationChannel channel) const {
  return channel == NotificationChannel::email ? settings_.mail.is_set()
                                               : !settings_.gateway_url.empty();
}

Result<void> ConfiguredNotifier::send(const Notification& notification) {
  if (!serves(notification.channel)) return failed("The channel is not configured.");
  return notification.channel == NotificationChannel::email ? mail(notification)
                                                            : post(notification);
}

Result<void> ConfiguredNotifier::mail(const Notification& notification) const {
  return send_mail(settings_.mail,
                   {notification.recipient, "Payment received", notification.payment.to_string(),
                    notification.text},
                   resolver_, client_.deadlines());
}

Result<void> ConfiguredNotifier::post(const Notification& notification) const {
  const auto url = parse_url(settings_.gateway_url);
  if (!url) return failed("The URL of the gateway is not valid.");
  http::ClientRequest request = request_to(*url);
  request.method = "POST";
  request.connect_timeout_ms = settings_.timeout_ms;
  request.headers = {{"Authorization", "Bearer " + settings_.gateway_token.reveal()},
                     {"Content-Type", "application/json"},
                     {"User-Agent", "coffer-notifications/1"}};
  request.body = gateway_body(notification);
  COFFER_TRY(const auto response,
             send_to_host(std::move(request), client_, resolver_, settings_.timeout_ms));
  if (response.status >= 200 && response.status < 300) return {};
  return failed("The gateway responded with " + std::to_string(response.status) + ".");
}

std::string check_gateway_url(const std::string& text) {
  const auto url = parse_url(text);
  if (!url) return "\"" + text + "\" is not a URL. Write https://HOST/PATH";
  if (!url->is_protected()) return "the token would be sent in plain text. Use https";
  return {};
}

}  // namespace coffer::outbound
