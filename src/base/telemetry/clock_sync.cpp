#include "base/telemetry/clock_sync.h"

#if defined(__linux__)
#include <sys/timex.h>
#endif

namespace coffer {

std::optional<bool> clock_is_synchronised() {
#if defined(__linux__)
  timex state{};  // no mode bits: read only
  const int answer = ::adjtimex(&state);
  if (answer < 0) return std::nullopt;
  return answer != TIME_ERROR && (state.status & STA_UNSYNC) == 0;
#else
  return std::nullopt;
#endif
}

}  // namespace coffer
