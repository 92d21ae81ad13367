// coffer overview and coffer activity: the system status, and figures over time.
#pragma once

#include <vector>

#include "cli/command.h"

namespace coffer::cli {

std::vector<Command> overview_commands();

}  // namespace coffer::cli
