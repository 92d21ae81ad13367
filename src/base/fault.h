// Named fault points for crash tests. In a build without COFFER_FAULTS (every release), the macro
// expands to nothing and the binary contains no name of a fault point; a test checks this.
//
// The environment variable COFFER_FAULT activates fault points with a comma-separated list of
// `name[:n][=action]`. The action runs at the n-th pass (default 1): `kill` (default) sends SIGKILL
// to this process, `throw` throws an InternalError, `stall` stops the thread for 3 s, `fail` makes
// COFFER_FAULT_FAILS true.
#pragma once

#ifdef COFFER_FAULTS

namespace coffer::fault {
/// Counts a pass of `name` and runs its action if it is due. Returns true if the action is `fail`.
bool pass(const char* name);
/// Replaces the active fault points; for tests in the same process. Same syntax as the variable.
void arm(const char* spec);
}  // namespace coffer::fault

#define COFFER_FAULT(name) static_cast<void>(::coffer::fault::pass(name))
#define COFFER_FAULT_FAILS(name) ::coffer::fault::pass(name)

#else

#define COFFER_FAULT(name) static_cast<void>(0)
#define COFFER_FAULT_FAILS(name) false

#endif
