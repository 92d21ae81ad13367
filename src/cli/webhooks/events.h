// coffer events and coffer trigger: listing, following, resending and sample events.
#pragma once

#include "cli/command.h"

namespace coffer::cli {

/// Prints events as they happen, for a listener on the control socket. With --json, one object per
/// line with `sequence`, `id`, `type` and `body`, the delivered bytes.
inline constexpr std::string_view kFollowCommand = "events follow";
/// Runs until the server stops or the listener closes its connection; then returns a Problem.
Result<CommandResult> follow_events(Session& session, const Arguments& arguments);

}  // namespace coffer::cli
