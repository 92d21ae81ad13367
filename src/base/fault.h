// Named fault points for crash tests. In a build without COFFER_FAULTS (every release) the macro
// is nothing and no name of a point is in the binary; a test greps for that.
//
// Armed by the environment variable COFFER_FAULT, a comma-separated list of `name[:n][=action]`:
// at its n-th passage (default 1) the point acts: `kill` (default) is SIGKILL to the own process,
// `throw` is an InternalError, `stall` stops the thread for 3 s, `fail` makes COFFER_FAULT_FAILS
// true.
#pragma once

#ifdef COFFER_FAULTS

namespace coffer::fault {
/// Counts one passage of `name` and acts when armed for it. True when the armed action is `fail`.
bool pass(const char* name);
/// Replaces what is armed; for tests in the same process. Same syntax as the variable.
void arm(const char* spec);
}  // namespace coffer::fault

#define COFFER_FAULT(name) static_cast<void>(::coffer::fault::pass(name))
#define COFFER_FAULT_FAILS(name) ::coffer::fault::pass(name)

#else

#define COFFER_FAULT(name) static_cast<void>(0)
#define COFFER_FAULT_FAILS(name) false

#endif
