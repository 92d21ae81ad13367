#include "outbound/operations/messenger.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "base/check.h"
#include "outbound/wire/address_trial.h"
#include "outbound/wire/url.h"

namespace coffer::outbound {
namespace {

SendResult of(bool sent, std::string detail) { return {sent, std::move(detail)}; }

/// `https://HOST:PORT`, without the default port.
std::string origin_of(const Url& url) {
  const bool numeric6 = url.host.find(':') != std::string::npos;
  const std::string host = numeric6 ? "[" + url.host + "]" : url.host;
  const bool usual = url.port == (url.tls ? 443 : 80);
  return (url.tls ? "https://" : "http://") + host + (usual ? "" : ":" + std::to_string(url.port));
}

/// Permits only the host that the operator configured.
AllowedTargets only_host_of(const std::string& text) {
  const auto url = parse_url(text);
  COFFER_CHECK(url.has_value());
  auto allowed = AllowedTargets::parse({url->host});
  COFFER_CHECK(allowed.has_value());
  return *std::move(allowed);
}

std::string gateway_body(const OutgoingMessage& message) {
  const nlohmann::json body = {{"to", message.recipient},
                               {"text", message.text},
                               {"paymentId", message.id},
                               {"idempotencyKey", "notification-" + message.id}};
  return body.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace

Messenger::Messenger(MessengerSettings settings, const Clock& clock, Resolver& resolver,
                     http::Client& client)
    : settings_(std::move(settings)), resolver_(resolver), client_(client) {
  if (settings_.webhook_url.empty()) return;
  webhook_ = std::make_unique<WebhookSender>(clock, resolver, only_host_of(settings_.webhook_url),
                                             settings_.ca_bundle, settings_.timeout_ms);
}

bool Messenger::serves(MessageChannel channel) const {
  switch (channel) {
    case MessageChannel::webhook:
      return webhook_ != nullptr;
    case MessageChannel::email:
      return settings_.mail.is_set();
    case MessageChannel::messaging:
      return !settings_.gateway_url.empty();
  }
  return false;
}

std::vector<AlertTarget> Messenger::targets() const {
  std::vector<AlertTarget> out;
  if (webhook_) {
    out.push_back({MessageChannel::webhook, origin_of(*parse_url(settings_.webhook_url))});
  }
  if (!settings_.alert_email.empty()) {
    out.push_back({MessageChannel::email, settings_.alert_email});
  }
  return out;
}

SendResult Messenger::send(const OutgoingMessage& message) {
  if (!serves(message.channel)) return of(false, "The channel is not configured.");
  switch (message.channel) {
    case MessageChannel::webhook:
      return post_webhook(message);
    case MessageChannel::email:
      return mail(message);
    case MessageChannel::messaging:
      return post_to_gateway(message);
  }
  return {};
}

void Messenger::cut_after(int ms) {
  if (webhook_) webhook_->cut_after(ms);
}

SendResult Messenger::post_webhook(const OutgoingMessage& message) {
  // check_alert_url() is stricter than the rules of either environment about plain http.
  const WebhookResponse response = webhook_->send({message.id,
                                                   settings_.webhook_url,
                                                   Environment::sandbox,
                                                   message.body,
                                                   {settings_.webhook_secret}});
  if (response.status == 0) return of(false, response.fault);
  return of(response.status >= 200 && response.status < 300,
            "The endpoint responded with " + std::to_string(response.status) + ".");
}

SendResult Messenger::mail(const OutgoingMessage& message) const {
  const auto sent =
      send_mail(settings_.mail, {message.recipient, message.subject, message.id, message.text},
                resolver_, client_.deadlines());
  if (!sent) return of(false, sent.error().detail);
  return of(true, settings_.mail.smtp_url.empty() ? "sendmail accepted the message."
                                                  : "The mail server accepted the message.");
}

SendResult Messenger::post_to_gateway(const OutgoingMessage& message) const {
  const auto url = parse_url(settings_.gateway_url);
  if (!url) return of(false, "The URL of the gateway is not valid.");
  http::ClientRequest request = request_to(*url);
  request.method = "POST";
  request.connect_timeout_ms = settings_.timeout_ms;
  request.headers = {{"Authorization", "Bearer " + settings_.gateway_token.reveal()},
                     {"Content-Type", "application/json"},
                     {"User-Agent", "coffer-notifications/1"}};
  request.body = gateway_body(message);
  const auto response = send_to_host(std::move(request), client_, resolver_, settings_.timeout_ms);
  if (!response) return of(false, response.error().detail);
  return of(response->status >= 200 && response->status < 300,
            "The gateway responded with " + std::to_string(response->status) + ".");
}

std::string check_gateway_url(const std::string& text) {
  const auto url = parse_url(text);
  if (!url) return "\"" + text + "\" is not a URL. Write https://HOST/PATH";
  if (!url->is_protected()) return "the token would be sent in plain text. Use https";
  return {};
}

std::string check_alert_url(const std::string& text) {
  const auto url = parse_url(text);
  if (!url || !AllowedTargets::parse({url->host})) {
    return "\"" + text + "\" is not a URL. Write https://HOST/PATH";
  }
  if (!url->is_protected()) return "the alerts would be sent in plain text. Use https";
  return {};
}

}  // namespace coffer::outbound
