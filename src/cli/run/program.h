// The whole program, from argv to the exit code.
#pragma once

namespace coffer::cli {

/// Called by main after process setup. Never throws.
int run_program(int argc, const char* const* argv);

}  // namespace coffer::cli
