// coffer user ...: the people of an association, who log in with a one-time code.
#pragma once

#include <vector>

#include "cli/command.h"

namespace coffer::cli {

std::vector<Command> user_commands();

}  // namespace coffer::cli
