// The right of this process to act for a ledger of which other machines have copies. It ends at a
// time, unless it is extended, because another machine may act from then on.
#pragma once

#include <cstdint>

namespace coffer {

/// Milliseconds of a clock that also counts while the machine sleeps.
std::int64_t boot_ms();
/// The process may act until this time. Thread-safe, like the following functions.
void hold_lease_until(std::int64_t until_boot_ms);
/// The process needs no lease, which is the state at its start.
void end_lease();
bool lease_holds();
/// Ends the process with kUncertain if the lease is over. Call it last before anything that others
/// can see: a response, or a call to another machine.
void require_lease();

}  // namespace coffer
