// Client side of the control socket.
#pragma once

#include <optional>
#include <string>

#include "cli/command_result.h"
#include "cli/control_wire.h"

namespace coffer::cli {

/// Runs the command in the server that has `database` open, prints its output as it arrives, and
/// returns its exit code; nullopt if no server listens. Gives up if the server sends nothing for
/// `silence_ms`; kNoLimit waits for long commands.
constexpr int kNoLimit = -1;
std::optional<int> run_in_server(const std::string& database, const ControlRequest& request,
                                 const Console& console, int silence_ms = kNoLimit);

/// Why commands do not reach the server that has `database` open, and what to do; empty if none
/// has.
std::string why_unreachable(const std::string& database);

}  // namespace coffer::cli
