// coffer notification: the messages that submissions asked for, and what became of them.
#pragma once

#include <vector>

#include "cli/command.h"

namespace coffer::cli {

std::vector<Command> notification_commands();

}  // namespace coffer::cli
