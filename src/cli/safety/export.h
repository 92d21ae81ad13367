// coffer export: everything as lines of JSON.
#pragma once

#include <vector>

#include "cli/command.h"

namespace coffer::cli {

std::vector<Command> export_commands();

}  // namespace coffer::cli
