// Whether something keeps this machine's clock right.
#pragma once

#include <optional>

namespace coffer {

/// What the kernel was told by whoever synchronises the clock (NTP, PTP, the hypervisor); nullopt
/// where it does not say.
std::optional<bool> clock_is_synchronised();

}  // namespace coffer
