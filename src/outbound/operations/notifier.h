// Messages to people: e-mail through the host's `sendmail`, everything else through an HTTP gateway
// of the operator's (docs/contract.md#notifications).
#pragma once

#include <string>

#include "base/result.h"
#include "base/strong.h"
#include "domain/ids.h"
#include "domain/operations/notification.h"
#include "http/client.h"
#include "outbound/resolver.h"

namespace coffer::outbound {

struct Notification {
  NotificationChannel channel = NotificationChannel::email;
  std::string recipient;  // an e-mail address, or a phone number in E.164
  std::string text;       // one line
  PaymentId payment;      // the same on every attempt, so that repeats can be told
};

class Notifier {
 public:
  virtual ~Notifier() = default;
  /// Whether messages of this channel can be sent at all.
  virtual bool serves(NotificationChannel channel) const = 0;
  /// Blocks until the message is handed over. A Problem's detail is for the log and names neither
  /// the recipient nor a secret. Safe from several threads.
  virtual Result<void> send(const Notification& notification) = 0;
};

struct NotifierSettings {
  std::string sendmail;     // path of the program; empty: no e-mail
  std::string from;         // the sender's address
  std::string gateway_url;  // has passed check_gateway_url(); empty: no messages
  Secret gateway_token;
  int timeout_ms = 10'000;  // of one attempt
};

class ConfiguredNotifier final : public Notifier {
 public:
  /// `client` and `resolver` outlive this.
  ConfiguredNotifier(NotifierSettings settings, http::Client& client, Resolver& resolver)
      : settings_(std::move(settings)), client_(client), resolver_(resolver) {}

  bool serves(NotificationChannel channel) const override;
  /// E-mail: `sendmail -i -f FROM -- RECIPIENT` without a shell and with an environment of its own,
  /// the message with its headers on standard input; exit status 0 is success. Messages: POST of
  /// `{to, text, paymentId, idempotencyKey}` with the token as bearer; any 2xx is success.
  Result<void> send(const Notification& notification) override;

 private:
  Result<void> mail(const Notification& notification) const;
  Result<void> post(const Notification& notification) const;

  const NotifierSettings settings_;
  http::Client& client_;
  Resolver& resolver_;
};

/// What is wrong with the setting, or empty: https, or http to a loopback address.
std::string check_gateway_url(const std::string& url);

}  // namespace coffer::outbound
