// Commands that print new events or requests until they are stopped, for a client of the control
// socket.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "cli/command.h"

namespace coffer::cli {

/// The result of one poll.
struct NewLines {
  std::string text;    // with a newline at the end of each line
  bool again = false;  // there may be more: poll again immediately
};

/// Prints the lines from `look`, which it calls every `every_ms` milliseconds, until the server
/// stops (a Problem) or the client closes its connection. Returns a Problem that mentions `what`,
/// such as "events", if no server runs or too many clients already follow.
Result<CommandResult> follow(Session& session, const std::string& what, std::int64_t every_ms,
                             const std::function<Result<NewLines>()>& look);

}  // namespace coffer::cli
