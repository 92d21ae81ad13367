// Runs a command in this process, on a file that it opens, or inside the server that has the file
// open.
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

/// Runs a command on a file for the actor of the session: checks the role (`forbidden`), and for a
/// command that a viewer may not run, records it before and its result afterwards. A command that
/// has to wait for a second operator is tried before its request is stored. The arguments have been
/// checked.
Result<CommandResult> carry_out(Session& session, const Command& command,
                                const Arguments& arguments);

/// The second operator of a command that waited.
struct GivenApproval {
  ApprovalId id;
  const Actor& by;
};
/// The same for a command that was approved: the approval is stored in the commit of its first
/// change, so it runs at most once. The session is that of the operator who asked.
Result<CommandResult> carry_out_approved(Session& session, const Command& command,
                                         const Arguments& arguments, const GivenApproval& approval);

/// Prints an exception of a command and returns its exit code. The operator can fix damage reported
/// by SQLite and missing permissions; everything else is a bug in coffer.
int print_fault(const Console& console, const std::exception& fault);

/// Runs a command that arrived over the control socket. Throws nothing.
int run_request(App& app, const ControlRequest& request, std::ostream& out, std::ostream& err,
                Interruption& interruption);

}  // namespace coffer::cli
