// The whole program: argv in, exit code out.
#pragma once

namespace coffer::cli {

/// What main does once the process is set up. Throws nothing.
int run_program(int argc, const char* const* argv);

}  // namespace coffer::cli
