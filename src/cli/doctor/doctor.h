// coffer doctor: looks at everything a server depends on, and says what to do about each finding.
#pragma once

#include <vector>

#include "cli/command.h"

namespace coffer::cli {

std::vector<Command> doctor_commands();

}  // namespace coffer::cli
