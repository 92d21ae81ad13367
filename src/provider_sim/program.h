// The whole program coffer-provider-sim, from argv to the exit code.
#pragma once

namespace coffer::provider_sim {

/// Called by main after process setup. Never throws. Returns 2 for a usage error, 1 if the provider
/// cannot start.
int run_program(int argc, const char* const* argv);

}  // namespace coffer::provider_sim
