// coffer serve: the server, configured by file, environment and flags.
#pragma once

#include <vector>

#include "cli/command.h"

namespace coffer::cli {

std::vector<Command> serve_commands();

}  // namespace coffer::cli
