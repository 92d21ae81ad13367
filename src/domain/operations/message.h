// Messages to people: alerts to the operator, notifications to recipients of payments. One queue
// and one rule for their attempts. The store keeps the enums as integers: append, never reorder.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "domain/identity/tenant.h"
#include "domain/ledger/money.h"
#include "domain/tables/terms.h"

namespace coffer {

enum class MessageChannel { webhook, email, messaging };
template <>
struct Terms<MessageChannel> {
  static constexpr auto rows = std::to_array<Term>({{"webhook"}, {"email"}, {"messaging"}});
};

/// `recorded`: the channel is not configured, so the message is only shown to the operator.
enum class MessageState { waiting, sent, failed, recorded };
template <>
struct Terms<MessageState> {
  static constexpr auto rows =
      std::to_array<Term>({{"waiting"}, {"sent"}, {"failed"}, {"recorded"}});
};

/// These attempts span 22 hours.
constexpr int kMessageAttemptsMax = 25;
/// Delay from the start of attempt `attempt` (counted from 1) to the next: 1 min, 5 min, 30 min,
/// then 1 h.
std::int64_t message_delay_ms(int attempt);

/// A notification of the receiver of a payment, if its submission requested one (notifyEmail,
/// notifyWhatsApp).
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
