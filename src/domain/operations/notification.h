// Notifications to the receiver of a payment, if its submission requested one (notifyEmail,
// notifyWhatsApp). Pure rules: the text of a message.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "domain/identity/tenant.h"
#include "domain/ledger/money.h"

namespace coffer {

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
