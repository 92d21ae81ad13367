// coffer events and coffer trigger: what happened, as it happens, once more, and made up.
#pragma once

#include "cli/command.h"

namespace coffer::cli {

/// The one that prints events as they happen, for who follows it over the control socket: with
/// --json one object per line with `sequence`, `id`, `type` and `body`, the bytes that are
/// delivered.
inline constexpr std::string_view kFollowCommand = "events follow";
/// Runs until the server stops or the listener closes its connection, and then returns a Problem.
Result<CommandResult> follow_events(Session& session, const Arguments& arguments);

}  // namespace coffer::cli
