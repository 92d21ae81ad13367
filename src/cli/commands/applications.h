// coffer application: register, list, rotate, suspend, resume, scopes.
#pragma once

#include <vector>

#include "cli/command.h"

namespace coffer::cli {

std::vector<Command> application_commands();

}  // namespace coffer::cli
