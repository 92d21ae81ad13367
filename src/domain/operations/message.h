// Messages to people: alerts to the operator, notifications to recipients of payments. One queue
// and one rule for their attempts. The store keeps the enums as integers: append, never reorder.
#pragma once

#include <cstdint>

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

}  // namespace coffer
