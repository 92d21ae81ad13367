// Notifications to the receiver of a payment, if its submission requested one (notifyEmail,
// notifyWhatsApp). Pure rules: the text of a message, and the times of retries.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "domain/identity/tenant.h"
#include "domain/ledger/money.h"
#include "domain/tables/terms.h"

namespace coffer {

/// Stored values.
enum class NotificationChannel { email = 1, messaging = 2 };
/// `recorded`: the channel is not configured, so the message is only shown to the operator.
enum class NotificationState { waiting, sent, failed, recorded };
template <>
struct Terms<NotificationState> {
  static constexpr auto rows =
      std::to_array<Term>({{"waiting"}, {"sent"}, {"failed"}, {"recorded"}});
};

std::string_view name(NotificationChannel channel);

constexpr int kNotificationAttemptsMax = 3;

/// Delay from the start of attempt `attempt` (counted from 1) to the next: 1 min, then 10 min.
std::int64_t notification_delay_ms(int attempt);

struct NotificationTerms {
  Amount amount;  // the received amount
  int decimals = Amount::kScale;
  std::string currency;  // an asset code, or the currency of an off-ramp
  std::string association;
  std::optional<std::string> reference;  // toRef
  Environment environment = Environment::sandbox;
};
/// One line of plain text without control characters. For a sandbox payment, the text says that no
/// real money moved, because the recipient may be a real person.
std::string notification_text(const NotificationTerms& terms);

/// The address in a recognisable but shortened form for logs: `a***@example.com`, `+254***78`.
std::string masked_recipient(std::string_view recipient);

}  // namespace coffer
