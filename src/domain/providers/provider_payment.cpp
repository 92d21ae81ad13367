#include "domain/providers/provider_payment.h"

#include <algorithm>

#include "base/check.h"

namespace coffer {

bool is_checking(OpenItem item) { return before_check(item) != item; }

OpenItem checking(OpenItem item) {
  if (item == OpenItem::unbooked) return OpenItem::checking_unbooked;
  return item == OpenItem::closed ? OpenItem::checking_closed : OpenItem::checking;
}

OpenItem before_check(OpenItem item) {
  switch (item) {
    case OpenItem::checking:
      return OpenItem::none;
    case OpenItem::checking_unbooked:
      return OpenItem::unbooked;
    case OpenItem::checking_closed:
      return OpenItem::closed;
    case OpenItem::none:
    case OpenItem::unbooked:
    case OpenItem::contradicted:
    case OpenItem::closed:
      return item;
  }
  throw InternalError("unknown open item");
}
namespace {

constexpr std::int64_t kPollMaxMs = 300'000;

}  // namespace

ProviderCall next_call(Direction direction, ProviderState state, int attempts, bool expired) {
  const bool pays_out = direction == Direction::off_ramp;
  switch (state) {
    case ProviderState::fresh:
      if (attempts < kSubmissionsMax)
        return pays_out ? ProviderCall::submit : ProviderCall::collect;
      return pays_out ? ProviderCall::cancel : ProviderCall::expire;
    case ProviderState::sent:
      return pays_out ? ProviderCall::status : ProviderCall::collection_status;
    case ProviderState::accepted:
    case ProviderState::over:
      break;
  }
  if (pays_out) return ProviderCall::status;
  return expired ? ProviderCall::expire : ProviderCall::collection_status;
}

ProviderCall next_refund_call(ProviderState state) {
  return state == ProviderState::fresh ? ProviderCall::refund : ProviderCall::refund_status;
}

std::int64_t poll_delay_ms(Environment environment, int asked) {
  const std::int64_t first = environment == Environment::sandbox ? 250 : 500;
  return std::min(first << std::clamp(asked, 0, 20), kPollMaxMs);
}

}  // namespace coffer
