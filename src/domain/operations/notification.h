// Messages to the receiver of a payment, if its submission requested one (notifyEmail,
// notifyWhatsApp). Pure rules: what the message says and when it is tried again.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "domain/identity/tenant.h"
#include "domain/ledger/money.h"

namespace coffer {

/// Values as they are stored.
enum class NotificationChannel { email = 1, messaging = 2 };
/// `recorded`: the channel is not configured, so the message is for the operator to see.
enum class NotificationState { waiting, sent, failed, recorded };

std::string_view name(NotificationChannel channel);
std::string_view name(NotificationState state);

constexpr int kNotificationAttemptsMax = 3;

/// From the opening of attempt number `attempt`, from 1, to the next: 1 min, then 10 min.
std::int64_t notification_delay_ms(int attempt);

struct NotificationTerms {
  Amount amount;  // that arrives
  int decimals = Amount::kScale;
  std::string currency;  // an asset code, or the currency of a cash-out
  std::string association;
  std::optional<std::string> reference;  // toRef
  Environment environment = Environment::sandbox;
};
/// One line of plain text without control characters. A payment of the sandbox says that it is one,
/// because its recipient may be a real person.
std::string notification_text(const NotificationTerms& terms);

/// Enough to recognise an address by, for logs: `a***@example.com`, `+254***78`.
std::string masked_recipient(std::string_view recipient);

}  // namespace coffer
