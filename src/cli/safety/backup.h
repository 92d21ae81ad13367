// coffer backup and coffer restore.
#pragma once

#include <vector>

#include "cli/command.h"

namespace coffer::cli {

std::vector<Command> backup_commands();

}  // namespace coffer::cli
