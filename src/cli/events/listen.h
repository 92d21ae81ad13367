// coffer listen: the events of a running server, forwarded to a consumer that is being written.
#pragma once

#include <vector>

#include "cli/command.h"

namespace coffer::cli {

std::vector<Command> listen_commands();

}  // namespace coffer::cli
