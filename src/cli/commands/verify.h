// coffer verify: every invariant, the hash chain and SQLite's own check, also on a live file.
#pragma once

#include <vector>

#include "cli/command.h"

namespace coffer::cli {

std::vector<Command> verify_commands();

}  // namespace coffer::cli
