#include "domain/operations/message.h"

#include <algorithm>
#include <array>

#include "base/clock.h"
#include "base/text/ascii.h"

namespace coffer {

std::int64_t message_delay_ms(int attempt) {
  constexpr std::array<std::int64_t, 4> kDelays = {kMinuteMs, 5 * kMinuteMs, 30 * kMinuteMs,
                                                   60 * kMinuteMs};
  return kDelays.at(static_cast<std::size_t>(std::clamp(attempt, 1, 4) - 1));
}

std::string notification_text(const NotificationTerms& terms) {
  std::string text = terms.environment == Environment::sandbox ? "[Sandbox, no real money] " : "";
  text += "You received " + terms.amount.to_string(terms.decimals) + " " + terms.currency +
          " from " + terms.association + ".";
  if (terms.reference) text += " Reference: " + *terms.reference + ".";
  std::ranges::replace_if(text, ascii::is_control, ' ');
  return text;
}

std::string masked_recipient(std::string_view recipient) {
  constexpr std::size_t kPrefix = 4;
  constexpr std::size_t kSuffix = 2;
  const auto at = recipient.rfind('@');
  if (at != std::string_view::npos && at > 0) {
    return std::string(recipient.substr(0, 1)) + "***" + std::string(recipient.substr(at));
  }
  if (recipient.size() <= kPrefix + kSuffix) return "***";
  return std::string(recipient.substr(0, kPrefix)) + "***" +
         std::string(recipient.substr(recipient.size() - kSuffix));
}

}  // namespace coffer
