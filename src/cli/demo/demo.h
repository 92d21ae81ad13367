// coffer demo: a sandbox that is ready to be called, served and explained.
#pragma once

#include <vector>

#include "cli/command.h"

namespace coffer::cli {

std::vector<Command> demo_commands();

}  // namespace coffer::cli
