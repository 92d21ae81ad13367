// coffer man and coffer settings: what packages and documents say about the program, printed by the
// program.
#pragma once

#include <string>
#include <vector>

#include "cli/command.h"

namespace coffer::cli {

std::vector<Command> manual_commands();

/// coffer(1).
std::string commands_page();

}  // namespace coffer::cli
