// Commands that print what happens until they are stopped, for a client of the control socket.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "cli/command.h"

namespace coffer::cli {

/// What one look found.
struct NewLines {
  std::string text;    // with a newline at the end of each line
  bool again = false;  // there may be more: look again at once
};

/// Prints what `look` finds, every `every_ms` milliseconds, until the server stops (a Problem) or
/// the client closes its connection. `what`, such as "events", is for the Problems: no server runs,
/// or too many clients follow already.
Result<CommandResult> follow(Session& session, const std::string& what, std::int64_t every_ms,
                             const std::function<Result<NewLines>()>& look);

}  // namespace coffer::cli
