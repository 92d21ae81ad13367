// Sends messages to people: a signed webhook to the operator, e-mail (mail.h), and messages to
// phones through an HTTP gateway of the operator (docs/contract.md#notifications).
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "base/strong.h"
#include "domain/operations/message.h"
#include "http/client.h"
#include "outbound/operations/mail.h"
#include "outbound/webhooks/webhook_sender.h"
#include "outbound/wire/resolver.h"

namespace coffer::outbound {

struct MessengerSettings {
  MailSettings mail;        // not set: no e-mail
  std::string gateway_url;  // has passed check_gateway_url(); empty: no messages to phones
  Secret gateway_token;
  std::string webhook_url;  // has passed check_alert_url(); empty: no webhook
  Secret webhook_secret;    // `whsec_...`
  std::string alert_email;  // recipient of alerts; empty: no e-mail about alerts
  std::string ca_bundle;    // for the webhook
  int timeout_ms = 10'000;  // for one webhook or one message to the gateway
};

/// One message in the form of its channel.
struct OutgoingMessage {
  MessageChannel channel = MessageChannel::email;
  std::string recipient;     // an e-mail address, or a phone number in E.164; not used by a webhook
  std::string id;            // identical on every attempt, so that repetitions can be recognised
  std::string subject = {};  // of an e-mail
  std::string text = {};     // of an e-mail or a message
  std::string body = {};     // JSON, of a webhook
};

struct SendResult {
  bool sent = false;
  std::string detail;  // a sentence without recipient and secret, for the log and the operator
};

/// A target of alerts, as shown to operators.
struct AlertTarget {
  MessageChannel channel = MessageChannel::webhook;
  std::string name;  // the recipient, or scheme and host of the URL, whose path may be secret
};

class Messenger {
 public:
  /// All references must outlive this object.
  Messenger(MessengerSettings settings, const Clock& clock, Resolver& resolver,
            http::Client& client);

  /// Whether messages of this channel can be sent.
  bool serves(MessageChannel channel) const;
  /// The configured targets of alerts.
  std::vector<AlertTarget> targets() const;
  /// Blocks until the message is handed over; thread-safe. The webhook is a delivery like those of
  /// integrators (WebhookSender), but its host may have any address. The gateway gets a POST of
  /// `{to, text, paymentId, idempotencyKey}` with the token as bearer; any 2xx is success.
  SendResult send(const OutgoingMessage& message);
  /// After this time, every present and future webhook ends without a response. E-mail and the
  /// gateway end with the calls of the client.
  void cut_after(int ms);

 private:
  SendResult post_webhook(const OutgoingMessage& message);
  SendResult mail(const OutgoingMessage& message) const;
  SendResult post_to_gateway(const OutgoingMessage& message) const;

  const MessengerSettings settings_;
  Resolver& resolver_;
  http::Client& client_;
  std::unique_ptr<WebhookSender> webhook_;  // null without a URL
};

/// The error in the setting, or an empty text. Requires https, or http with a loopback address.
std::string check_gateway_url(const std::string& url);
std::string check_alert_url(const std::string& url);

}  // namespace coffer::outbound
