// Running a command: by itself, on a file it opens, or inside the server that owns the file.
#pragma once

#include <ostream>

#include "cli/command.h"
#include "cli/command_line.h"
#include "cli/control_wire.h"

namespace coffer::cli {

/// Returns the exit code of the process.
int run_command(const CommandLine& line, const Console& console);

/// What the server does for a command that asked over the control socket. Throws nothing.
int run_request(App& app, const ControlRequest& request, std::ostream& out, std::ostream& err,
                Interruption& interruption);

}  // namespace coffer::cli
