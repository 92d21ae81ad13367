// Running a command: by itself, on a file it opens, or inside the server that owns the file.
#pragma once

#include <exception>
#include <ostream>

#include "cli/command.h"
#include "cli/command_line.h"
#include "cli/control_wire.h"

namespace coffer::cli {

/// Returns the exit code of the process.
int run_command(const CommandLine& line, const Console& console);

/// Explains what a command threw and returns the exit code that fits. Damage that SQLite meets and
/// permissions that the system refuses are the operator's to mend; the rest is a fault of ours.
int print_fault(const Console& console, const std::exception& fault);

/// What the server does for a command that asked over the control socket. Throws nothing.
int run_request(App& app, const ControlRequest& request, std::ostream& out, std::ostream& err,
                Interruption& interruption);

}  // namespace coffer::cli
