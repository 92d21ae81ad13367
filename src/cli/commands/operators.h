// Operators of the admin page, and the audit log.
#pragma once

#include <vector>

#include "cli/command.h"

namespace coffer::cli {

std::vector<Command> operator_commands();

}  // namespace coffer::cli
