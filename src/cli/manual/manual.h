// coffer man and coffer settings: what packages and documents say about the program, printed by the
// program.
#pragma once

#include <string>

#include "cli/command.h"

namespace coffer::cli {

/// coffer(1).
std::string commands_page();

}  // namespace coffer::cli
