// coffer approval: commands that wait for a second operator (docs/operating.md#four-eyes).
#pragma once

#include "cli/command.h"

namespace coffer::cli {

/// Whether the command must wait. It may, if an operator runs it on the admin page, and it moves
/// money or changes access; the setting four_eyes decides.
bool waits_for_approval(Session& session, const Command& command, const Arguments& arguments);
/// Stores the request in place of running the command. `detail` is for the audit log.
Result<CommandResult> request_approval(Session& session, const Command& command,
                                       const Arguments& arguments, const std::string& detail);

}  // namespace coffer::cli
