// Which commands wait for a second operator (docs/operating.md#four-eyes).
#pragma once

#include "cli/command.h"
#include "store/identity/approvals.h"

namespace coffer::cli {

/// Whether the setting four_eyes applies to the command: it moves money or changes access. Commands
/// of a demo move no real money.
bool is_under_four_eyes(const Command& command);
/// Whether the command needs approval: an operator runs it on the admin page, and the value of
/// four_eyes does not exempt it.
bool waits_for_approval(Session& session, const Command& command, const Arguments& arguments);
/// Stores a request for approval instead of running the command. `detail` is for the audit log.
Result<CommandResult> request_approval(Session& session, const Command& command,
                                       const Arguments& arguments, const std::string& detail);
/// A request as the lists show it.
Record approval_view(Session& session, const store::ApprovalRow& row);

}  // namespace coffer::cli
