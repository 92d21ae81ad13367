// Sends alerts to the operator: a signed webhook, and e-mail (mail.h).
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/strong.h"
#include "domain/operations/alert.h"
#include "outbound/operations/notifier.h"
#include "outbound/resolver.h"
#include "outbound/webhooks/webhook_sender.h"

namespace coffer::outbound {

struct AlertSettings {
  std::string url;    // has passed check_alert_url(); empty: no webhook
  Secret secret;      // `whsec_...`
  std::string email;  // recipient; empty: no e-mail
  MailSettings mail;
  std::string ca_bundle;
  int timeout_ms = 10'000;  // for one attempt
};

/// One message in the form of each channel.
struct AlertText {
  std::string id;       // identical on every attempt
  std::string body;     // JSON, for the webhook
  std::string subject;  // for the e-mail
  std::string text;
};

/// As shown to operators.
struct AlertTarget {
  AlertChannel channel = AlertChannel::webhook;
  std::string name;  // the recipient, or scheme and host of the URL, whose path may be secret
};

struct AlertResult {
  bool sent = false;
  std::string detail;  // a sentence
};

class AlertSender {
 public:
  /// E-mail ends with the calls of `client`. All references must outlive this object.
  AlertSender(AlertSettings settings, const Clock& clock, Resolver& resolver, http::Client& client);

  /// The configured targets.
  std::vector<AlertTarget> targets() const;
  /// Blocks until the message is handed over; thread-safe. The webhook is a delivery like those of
  /// integrators (WebhookSender), but its host may have any address.
  AlertResult send(AlertChannel channel, const AlertText& alert);
  /// After this time, every present and future webhook ends without a response.
  void cut_after(int ms);

 private:
  AlertResult post(const AlertText& alert);
  AlertResult mail(const AlertText& alert);

  const AlertSettings settings_;
  Resolver& resolver_;
  http::Client& client_;
  std::unique_ptr<WebhookSender> webhook_;  // null without a URL
};

/// The error in the setting, or an empty text. Requires https, or http with a loopback address.
std::string check_alert_url(const std::string& url);

}  // namespace coffer::outbound
