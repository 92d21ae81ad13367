// Notifications to people: e-mail (mail.h), other messages through an HTTP gateway of the operator
// (docs/contract.md#notifications).
#pragma once

#include <string>

#include "base/result.h"
#include "base/strong.h"
#include "domain/ids.h"
#include "domain/operations/notification.h"
#include "http/client.h"
#include "outbound/operations/mail.h"
#include "outbound/resolver.h"

namespace coffer::outbound {

struct Notification {
  NotificationChannel channel = NotificationChannel::email;
  std::string recipient;  // an e-mail address, or a phone number in E.164
  std::string text;       // one line
  PaymentId payment;  // identical on every attempt, so that the receiver can recognise repetitions
};

class Notifier {
 public:
  virtual ~Notifier() = default;
  /// Whether messages of this channel can be sent.
  virtual bool serves(NotificationChannel channel) const = 0;
  /// Blocks until the message is handed over. A Problem's detail is for the log and contains
  /// neither the recipient nor a secret. Thread-safe.
  virtual Result<void> send(const Notification& notification) = 0;
};

struct NotifierSettings {
  MailSettings mail;        // not set: no e-mail
  std::string gateway_url;  // has passed check_gateway_url(); empty: no messages
  Secret gateway_token;
  int timeout_ms = 10'000;  // for one message to the gateway
};

class ConfiguredNotifier final : public Notifier {
 public:
  /// `client` and `resolver` must outlive this object.
  ConfiguredNotifier(NotifierSettings settings, http::Client& client, Resolver& resolver)
      : settings_(std::move(settings)), client_(client), resolver_(resolver) {}

  bool serves(NotificationChannel channel) const override;
  /// E-mail: send_mail(). Messages: POST of
  /// `{to, text, paymentId, idempotencyKey}` with the token as bearer; any 2xx is success.
  Result<void> send(const Notification& notification) override;

 private:
  Result<void> mail(const Notification& notification) const;
  Result<void> post(const Notification& notification) const;

  const NotifierSettings settings_;
  http::Client& client_;
  Resolver& resolver_;
};

/// The error in the setting, or an empty text. Requires https, or http with a loopback address.
std::string check_gateway_url(const std::string& url);

}  // namespace coffer::outbound
