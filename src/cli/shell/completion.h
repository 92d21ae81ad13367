// coffer completion: scripts that let a shell complete what coffer is told.
#pragma once

#include <string>
#include <vector>

#include "cli/command.h"

namespace coffer::cli {

std::vector<Command> completion_commands();

/// Each needs nothing but its shell: no package of completions, and bash from 3.2 on.
std::string bash_completion();
std::string zsh_completion();
std::string fish_completion();

}  // namespace coffer::cli
