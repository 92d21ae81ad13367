// Whether the machine's clock is synchronised.
#pragma once

#include <optional>

namespace coffer {

/// The synchronisation state that NTP, PTP or the hypervisor reported to the kernel; nullopt if the
/// system does not provide it.
std::optional<bool> clock_is_synchronised();

}  // namespace coffer
