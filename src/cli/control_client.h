// A command's side of the control socket.
#pragma once

#include <optional>
#include <string>

#include "cli/command_result.h"
#include "cli/control_wire.h"

namespace coffer::cli {

/// Has the server that owns `database` run the command, prints what it prints as it comes, and
/// returns its exit code; nullopt when no server listens there. A server that says nothing for
/// `silence_ms` is given up; without a limit a long command takes its time.
constexpr int kNoLimit = -1;
std::optional<int> run_in_server(const std::string& database, const ControlRequest& request,
                                 const Console& console, int silence_ms = kNoLimit);

}  // namespace coffer::cli
