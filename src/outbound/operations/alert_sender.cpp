#include "outbound/operations/alert_sender.h"

#include <utility>

#include "base/check.h"
#include "outbound/url.h"

namespace coffer::outbound {
namespace {

AlertResult of(bool sent, std::string detail) { return {sent, std::move(detail)}; }

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

}  // namespace

AlertSender::AlertSender(AlertSettings settings, const Clock& clock, Resolver& resolver,
                         http::Client& client)
    : settings_(std::move(settings)), resolver_(resolver), client_(client) {
  if (settings_.url.empty()) return;
  webhook_ = std::make_unique<WebhookSender>(clock, resolver, only_host_of(settings_.url),
                                             settings_.ca_bundle, settings_.timeout_ms);
}

std::vector<AlertTarget> AlertSender::targets() const {
  std::vector<AlertTarget> out;
  if (!settings_.url.empty()) {
    out.push_back({AlertChannel::webhook, origin_of(*parse_url(settings_.url))});
  }
  if (!settings_.email.empty()) out.push_back({AlertChannel::email, settings_.email});
  return out;
}

AlertResult AlertSender::send(AlertChannel channel, const AlertText& alert) {
  const bool webhook = channel == AlertChannel::webhook;
  if (webhook ? settings_.url.empty() : settings_.email.empty()) {
    return of(false, "The target is no longer configured.");
  }
  return webhook ? post(alert) : mail(alert);
}

void AlertSender::cut_after(int ms) {
  if (webhook_) webhook_->cut_after(ms);
}

AlertResult AlertSender::post(const AlertText& alert) {
  // check_alert_url() is stricter than the rules of either environment about plain http.
  const WebhookResponse response = webhook_->send(
      {alert.id, settings_.url, Environment::sandbox, alert.body, {settings_.secret}});
  if (response.status == 0) return of(false, response.fault);
  return of(response.status >= 200 && response.status < 300,
            "The endpoint responded with " + std::to_string(response.status) + ".");
}

AlertResult AlertSender::mail(const AlertText& alert) {
  const auto sent =
      send_mail(settings_.mail, {settings_.email, alert.subject, alert.id, alert.text}, resolver_,
                client_.deadlines());
  if (!sent) return of(false, sent.error().detail);
  return of(true, settings_.mail.smtp_url.empty() ? "sendmail accepted the message."
                                                  : "The mail server accepted the message.");
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
