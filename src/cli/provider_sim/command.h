// coffer provider-sim: a payment provider to test against, and the example to copy.
#pragma once

#include <vector>

#include "cli/command.h"

namespace coffer::cli {

std::vector<Command> provider_sim_commands();

}  // namespace coffer::cli
