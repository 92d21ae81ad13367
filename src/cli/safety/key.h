// coffer key: the master key of a file.
#pragma once

#include <vector>

#include "cli/command.h"

namespace coffer::cli {

std::vector<Command> key_commands();

}  // namespace coffer::cli
