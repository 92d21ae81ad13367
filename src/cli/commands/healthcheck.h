// coffer healthcheck: asks a running server how it is, for supervisors and containers.
#pragma once

#include <vector>

#include "cli/command.h"

namespace coffer::cli {

std::vector<Command> healthcheck_commands();

}  // namespace coffer::cli
