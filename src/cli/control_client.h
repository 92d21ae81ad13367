// A command's side of the control socket.
#pragma once

#include <optional>
#include <string>

#include "cli/answer.h"
#include "cli/control_wire.h"

namespace coffer::cli {

/// Has the server that owns `database` run the command, prints what it prints as it comes, and
/// returns its exit code; nullopt when no server listens there.
std::optional<int> run_in_server(const std::string& database, const ControlRequest& request,
                                 const Console& console);

}  // namespace coffer::cli
