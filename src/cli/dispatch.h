// Runs a command: alone, on a file that it opens, or inside the server that has the file open.
#pragma once

#include <exception>
#include <ostream>

#include "base/result.h"
#include "cli/command.h"
#include "cli/command_line.h"
#include "cli/control_wire.h"

namespace coffer::cli {

/// Returns the exit code of the process.
int run_command(const CommandLine& line, const Console& console);

/// Runs a command on a file for the actor of the session: judges the role (`forbidden`) and, where
/// the role of the command is more than a viewer's, records the act before and its outcome after.
/// The arguments have been checked.
Result<CommandResult> carry_out(Session& session, const Command& command,
                                const Arguments& arguments);

/// Prints what a command threw and returns its exit code. The operator can fix damage reported by
/// SQLite and missing permissions; everything else is a bug in coffer.
int print_fault(const Console& console, const std::exception& fault);

/// What the server does for a command that asked over the control socket. Throws nothing.
int run_request(App& app, const ControlRequest& request, std::ostream& out, std::ostream& err,
                Interruption& interruption);

}  // namespace coffer::cli
