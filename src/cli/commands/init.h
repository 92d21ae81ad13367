// coffer init: a new database and its master key.
#pragma once

#include <vector>

#include "cli/command.h"

namespace coffer::cli {

std::vector<Command> init_commands();

}  // namespace coffer::cli
