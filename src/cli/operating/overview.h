// coffer overview and coffer activity: how the house stands, and how it has been doing.
#pragma once

#include <vector>

#include "cli/command.h"

namespace coffer::cli {

std::vector<Command> overview_commands();

}  // namespace coffer::cli
