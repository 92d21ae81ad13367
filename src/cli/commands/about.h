// coffer version and coffer openapi: what this binary is and what it serves.
#pragma once

#include <vector>

#include "cli/command.h"

namespace coffer::cli {

std::vector<Command> about_commands();

}  // namespace coffer::cli
