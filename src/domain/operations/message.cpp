#include "domain/operations/message.h"

#include <algorithm>
#include <array>

#include "base/clock.h"

namespace coffer {

std::int64_t message_delay_ms(int attempt) {
  constexpr std::array<std::int64_t, 4> kDelays = {kMinuteMs, 5 * kMinuteMs, 30 * kMinuteMs,
                                                   60 * kMinuteMs};
  return kDelays.at(static_cast<std::size_t>(std::clamp(attempt, 1, 4) - 1));
}

}  // namespace coffer
