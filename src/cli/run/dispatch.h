// Runs a command in this process, on a file that it opens, or inside the server that has the file
// open.
#pragma once

#include <exception>
#include <functional>
#include <ostream>
#include <string>
#include <string_view>

#include "base/result.h"
#include "cli/command.h"
#include "cli/command_line.h"
#include "cli/control_wire.h"

namespace coffer::cli {

/// Returns the exit code of the process.
int run_command(const CommandLine& line, const Console& console);

/// Runs a command on a file for the actor of the session. Checks the role (`forbidden`). Writes
/// audit entries before and after a command that a viewer may not run. A command that needs a
/// second operator is stored instead, and runs when approved. The caller must have checked the
/// arguments.
Result<CommandResult> carry_out(Session& session, const Command& command, Arguments arguments);

/// Runs `run`, the work of a command that a viewer may not run, between its two audit entries.
Result<CommandResult> run_recorded(Session& session, std::string_view command,
                                   const std::string& detail,
                                   const std::function<Result<CommandResult>()>& run);

/// The second operator's approval of a command.
struct GivenApproval {
  ApprovalId id;
  const Actor& by;
};
/// Runs an approved command in the same way. The approval is stored in the commit of the command's
/// first change, so the command runs at most once. The session must be that of the requesting
/// operator.
Result<CommandResult> carry_out_approved(Session& session, const Command& command,
                                         const Arguments& arguments, const GivenApproval& approval);

/// Prints an exception of a command and returns its exit code. The operator can fix damage reported
/// by SQLite and missing permissions; everything else is a bug in coffer.
int print_fault(const Console& console, const std::exception& fault);

/// Runs a command that arrived over the control socket. Never throws.
int run_request(App& app, const ControlRequest& request, std::ostream& out, std::ostream& err,
                Interruption& interruption);

}  // namespace coffer::cli
